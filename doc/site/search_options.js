// Options have a dash, which Sphinx's search takes for "without this word": "-cosim_type" would find what does not say it.
(() => {
  if (typeof Search === "undefined") return;
  const query = Search.query;
  Search.query = (text) => query.call(Search, text.replace(/(^|\s)-+(?=[a-z])/gi, "$1"));
})();
