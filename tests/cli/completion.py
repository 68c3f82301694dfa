"""concord completion: what bash makes of it."""
import subprocess
import unittest

from concord_runs import execute


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run = execute("completion", "bash")
        assert run.returncode == 0, run.stderr
        cls.script = run.stdout

    def completed(self, *words):
        given = " ".join(f"'{word}'" for word in ("concord", *words))
        run = subprocess.run(
            ["bash", "--norc", "-c", f"{self.script}\nCOMP_WORDS=({given})\nCOMP_CWORD={len(words)}\n"
             '_concord\nprintf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_commands(self):
        self.assertEqual(self.completed("rep"), ["repair", "report"])
        self.assertTrue({"run", "check", "plot", "help"} <= set(self.completed("")))

    def test_words_and_options(self):
        self.assertEqual(self.completed("plot", "a.h5", "--ph"), ["--phase"])
        self.assertEqual(self.completed("run", "m.yaml", "-cosim_accur"), ["-cosim_accuracy"])
        self.assertEqual(self.completed("plot", "-cosim_accur"), [])
        self.assertEqual(self.completed("run", "m.yaml", "--help"), ["--help", "--help-all"])
        self.assertEqual(self.completed("plot", "--help"), ["--help"])

    def test_values(self):
        self.assertIn("missiles6", self.completed("run", "m.yaml", "-cosim_type", ""))
        self.assertEqual(self.completed("run", "m.yaml", "-cosim_hold", "q"), ["quintic"])

    def test_files_are_left_to_the_shell(self):
        self.assertEqual(self.completed("run", "mod"), [])
        self.assertIn("complete -o default", self.script)

    def test_other_shells(self):
        for words in (("fish",), ()):
            run = execute("completion", *words)
            self.assertEqual(run.returncode, 2)
            self.assertIn("takes the name of a shell: bash", run.stderr)


if __name__ == "__main__":
    unittest.main()
