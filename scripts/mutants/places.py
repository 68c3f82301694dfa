"""Where the program can be mutated, by libclang's syntax tree: places of operators, constants, conditions, calls and
statements, and the source with the mutants of a sample written into it, each of which asks whether it is chosen
(mutants.hpp)."""
import re
import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path

from clang.cindex import CursorKind as Kind
from clang.cindex import Index, TranslationUnit
from clang.cindex import TypeKind

INTEGERS = {TypeKind.CHAR_U, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG,
            TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG}
FLOATING = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE}
NUMBERS = INTEGERS | FLOATING
COMPARED = NUMBERS | {TypeKind.BOOL, TypeKind.ENUM, TypeKind.POINTER}

# operator: function of mutants.hpp, what the mutant has instead, which operands
BINARY = {"+": ("plus", "-", NUMBERS), "-": ("minus", "+", NUMBERS), "*": ("times", "/", NUMBERS),
          "/": ("over", "*", NUMBERS), "%": ("remainder", "*", INTEGERS),
          "<": ("less", "<=", NUMBERS), "<=": ("less_equal", "<", NUMBERS),
          ">": ("greater", ">=", NUMBERS), ">=": ("greater_equal", ">", NUMBERS),
          "==": ("equal", "!=", COMPARED), "!=": ("unequal", "==", COMPARED)}
COMPOUND = {"+=": ("add", "-="), "-=": ("subtract", "+="), "*=": ("multiply", "/="), "/=": ("divide", "*=")}
SWAPPED_CALLS = {"min": "max", "max": "min"}
DROPPED_CALLS = {"abs", "fabs", "sqrt", "cbrt", "floor", "ceil", "round", "exp", "log", "log2", "log10"}

# Values that the compiler needs to know, or that are no part of the arithmetic.
SKIPPED = {Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.CXX_THROW_EXPR, Kind.TEMPLATE_TYPE_PARAMETER,
           Kind.TEMPLATE_NON_TYPE_PARAMETER, Kind.DECL_REF_EXPR, Kind.TYPE_REF, Kind.TEMPLATE_REF,
           Kind.CXX_UNARY_EXPR, Kind.USING_DECLARATION, Kind.TYPEDEF_DECL, Kind.TYPE_ALIAS_DECL}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION}
STATEMENTS = {Kind.COMPOUND_STMT, Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT, Kind.DO_STMT}
NUMBER = re.compile(rb"(\d[\d']*\.?\d*|\.\d+)([eE][-+]?\d+)?[uUlLfFzZ]*")
COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.S)


@dataclass
class Place:
    """A range of a file that one mutant replaces: texts and ranges of the original in turn."""
    file: str
    start: int
    end: int
    line: int
    last_line: int
    kind: str
    before: str
    after: str
    pieces: list = field(default_factory=list)  # str, or [start, end] of what is kept and may have mutants in it

    def as_json(self):
        return asdict(self)


def flags_of(command):
    """What a compile command says of how to read its file: without the compiler, the output and the file."""
    words = shlex.split(command)[1:]
    found = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif not word.startswith(("--param", "-W", "-g", "-O", "-M")):
            found.append(word)
    return [*found, "-w", "-ferror-limit=0"]


def parsed(file, command):
    return Index.create().parse(file, flags_of(command), options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)


def errors_of(unit):
    """(file, line, text) of what does not compile."""
    return [(d.location.file.name if d.location.file else "", d.location.line, d.spelling)
            for d in unit.diagnostics if d.severity >= 3]


class Finder:
    def __init__(self, wanted):
        self.wanted = wanted  # of a file's path: whether it is looked at
        self.texts = {}
        self.macros = {}
        self.places = []
        self.file = None

    def text(self, file):
        if file not in self.texts:
            self.texts[file] = Path(file).read_bytes()
        return self.texts[file]

    def find(self, unit):
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file is None or not self.wanted(file.name):
                continue
            if cursor.kind == Kind.MACRO_INSTANTIATION:
                self.macros.setdefault(file.name, []).append((cursor.extent.start.offset, cursor.extent.end.offset))
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file is not None and self.wanted(file.name) and not cursor.kind.is_preprocessing():
                self.file = file.name
                self.visit(cursor, None)
        return self.places

    def part(self, start, end):
        return self.text(self.file)[start:end]

    def between(self, start, end):
        return COMMENT.sub(b"", self.part(start, end)).strip().decode()

    def add(self, cursor, kind, after, pieces, before=None):
        start, end = cursor.extent.start, cursor.extent.end
        if any(a <= start.offset and end.offset <= b for a, b in self.macros.get(self.file, ())):
            return
        shown = self.part(start.offset, end.offset).decode()
        self.places.append(Place(self.file, start.offset, end.offset, start.line, end.line, kind,
                                 " ".join((before or shown).split()), " ".join(after.split()), pieces))

    def visit(self, cursor, parent):
        kind = cursor.kind
        if kind in SKIPPED:
            return
        head = self.part(cursor.extent.start.offset, cursor.extent.start.offset + 400)
        children = list(cursor.get_children())
        if kind == Kind.VAR_DECL and b"constexpr" in head.split(b"=")[0].split():
            self.named_constant(cursor, children)
            return
        if kind in FUNCTIONS and re.match(rb"[^({;]*\b(constexpr|consteval)\b", head):
            return
        if kind == Kind.IF_STMT and re.match(rb"if\s+constexpr", head):
            children = children[1:]
        if kind == Kind.CASE_STMT:
            children = children[1:]
        if kind in STATEMENTS:
            self.statements(cursor, children)
        if kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.binary(cursor, *children)
        elif kind == Kind.UNARY_OPERATOR and len(children) == 1:
            self.unary(cursor, children[0])
        elif kind == Kind.CALL_EXPR:
            self.call(cursor)
        elif kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL):
            self.constant(cursor, parent)
        elif kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.truth(cursor)
        for child in children:
            self.visit(child, cursor)

    def binary(self, cursor, left, right):
        a, b = range_of(left), range_of(right)
        operator = self.between(a[1], b[0])
        types = [type_of(left), type_of(right)]
        if operator in BINARY:
            function, other, operands = BINARY[operator]
            if all(kind in operands for kind in types):
                kind = "arithmetic" if operator in "+-*/%" else "comparison"
                self.add(cursor, kind, self.joined(a, other, b),
                         [f"::concord::mutants::{function}(@, ", a, ", ", b, ")"])
        elif operator in COMPOUND and all(kind in NUMBERS for kind in types):
            function, other = COMPOUND[operator]
            self.add(cursor, "arithmetic", self.joined(a, other, b),
                     [f"::concord::mutants::{function}(@, ", a, ", ", b, ")"])
        elif operator in ("&&", "||"):
            other = "||" if operator == "&&" else "&&"
            decides = "!=" if operator == "&&" else "=="
            # a && b is a ? b : false, its mutant !a ? b : true; a || b is !a ? b : true
            rest = "::concord::mutants::is(@)" if operator == "&&" else "!::concord::mutants::is(@)"
            self.add(cursor, "logical", self.joined(a, other, b),
                     ["(static_cast<bool>(", a, f") {decides} ::concord::mutants::ask(@) ? static_cast<bool>(", b,
                      f") : {rest})"])

    def joined(self, a, operator, b):
        return f"{self.part(*a).decode()} {operator} {self.part(*b).decode()}"

    def unary(self, cursor, operand):
        a = range_of(operand)
        operator = self.between(cursor.extent.start.offset, a[0])
        if operator == "-" and type_of(operand) in NUMBERS:
            self.add(cursor, "sign", self.part(*a).decode(), ["::concord::mutants::negative(@, ", a, ")"])
        elif operator == "!" and type_of(operand) in (TypeKind.BOOL, TypeKind.POINTER):
            self.add(cursor, "logical", self.part(*a).decode(),
                     ["(static_cast<bool>(", a, ") == ::concord::mutants::ask(@))"])

    def call(self, cursor):
        arguments = [child for child in cursor.get_arguments() if child is not None]
        name = cursor.spelling
        if not arguments:
            return
        callee = self.part(cursor.extent.start.offset, arguments[0].extent.start.offset).decode()
        if not re.fullmatch(r"std::\w+\s*(<[\w:]+>)?\s*\(\s*", callee):
            return
        ranges = [range_of(argument) for argument in arguments]
        if name in SWAPPED_CALLS and len(arguments) == 2 and all(type_of(a) in NUMBERS for a in arguments):
            other = SWAPPED_CALLS[name]
            explicit = re.search(r"<[\w:]+>", callee)
            self.add(cursor, "call", callee.replace(f"std::{name}", f"std::{other}") + self.part(
                ranges[0][0], cursor.extent.end.offset).decode(),
                [f"::concord::mutants::{name}{explicit.group() if explicit else ''}(@, ", ranges[0], ", ", ranges[1],
                 ")"])
        elif name in DROPPED_CALLS and len(arguments) == 1 and type_of(arguments[0]) in FLOATING:
            self.add(cursor, "call", self.part(*ranges[0]).decode(),
                     ["::concord::mutants::call(@, ", ranges[0], f", [](auto x) {{ return std::{name}(x); }})"])

    def constant(self, cursor, parent):
        text = self.part(*range_of(cursor)).decode()
        if parent is None or not NUMBER.fullmatch(text.encode()):
            return
        of = cursor.type
        if parent.kind == Kind.UNEXPOSED_EXPR and range_of(parent) == range_of(cursor):
            of = parent.type
        of = of.get_canonical()
        if of.kind in NUMBERS:
            for mutated in others(text, of.kind in FLOATING):
                self.add(cursor, "constant", mutated,
                         [f"::concord::mutants::value<{plain(of)}>(@, ", list(range_of(cursor)), f", {mutated})"])

    def named_constant(self, cursor, children):
        """constexpr double name = 0.1; is no constexpr any more where it has a mutant."""
        of = cursor.type.get_canonical()
        if of.kind not in FLOATING or not children or cursor.semantic_parent.kind in (
                Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE):
            return
        start, end = range_of(cursor)
        found = re.fullmatch(rb"(.*\bconst)expr\b([^=]*=\s*)(\S+)", self.part(start, end), re.S)
        if not found or not NUMBER.fullmatch(found.group(3)):
            return
        text = found.group(3).decode()
        for mutated in others(text, True):
            self.add(cursor, "constant", f"... = {mutated}",
                     [found.group(1).decode() + found.group(2).decode(),
                      f"::concord::mutants::value<{plain(of)}>(@, {text}, {mutated})"])

    def truth(self, cursor):
        text = self.part(*range_of(cursor)).decode()
        if text in ("true", "false"):
            other = "false" if text == "true" else "true"
            self.add(cursor, "constant", other, [f"::concord::mutants::value<bool>(@, {text}, {other})"])

    def statements(self, cursor, children):
        if cursor.kind == Kind.IF_STMT:
            condition = next((child for child in children if child.kind.is_expression()), None)
            declared = any(child.kind == Kind.VAR_DECL for child in children)
            if condition is not None and not declared and type_of(condition) == TypeKind.BOOL:
                a = range_of(condition)
                self.add(condition, "condition", f"!({self.part(*a).decode()})",
                         ["static_cast<bool>(", a, ") != ::concord::mutants::ask(@)"])
            children = [child for child in children if child != condition]
        elif cursor.kind in (Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT):
            children = children[-1:]
        elif cursor.kind == Kind.DO_STMT:
            children = children[:1]
        for child in children:
            if child.kind in (Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR,
                              Kind.UNARY_OPERATOR, Kind.UNEXPOSED_EXPR):
                a = range_of(child)
                self.add(child, "statement", "(removed)",
                         ["(::concord::mutants::ask(@) ? void() : void(", a, "))"])
            elif child.kind in (Kind.CONTINUE_STMT, Kind.BREAK_STMT):
                a = range_of(child)
                self.add(child, "statement", "(removed)",
                         ["if (::concord::mutants::ask(@)) {} else ", self.part(*a).decode()])


def range_of(cursor):
    return [cursor.extent.start.offset, cursor.extent.end.offset]


def type_of(cursor):
    return cursor.type.get_canonical().kind


def plain(of):
    return of.spelling.removeprefix("const ")


def others(text, floating):
    """Constants that stand for one: 0 and 1 for each other, one more, or half of it and twice."""
    number = float(text.replace("'", "").rstrip("uUlLfFzZ"))
    if floating:
        return ["1.0"] if number == 0 else ["0.0", "2.0"] if number == 1 else [f"(0.5 * {text})", f"(2.0 * {text})"]
    return ["1"] if number == 0 else ["0", "2"] if number == 1 else [f"({text} + 1)", f"({text} - 1)"]


PREAMBLE = b"""#include "mutants/mutants.hpp"
#if __INCLUDE_LEVEL__
#pragma GCC system_header
#endif
"""


def rendered(text, mutants):
    """The source with mutants, (number, place) pairs that lie beside each other or within pieces of each other."""
    ordered = sorted(mutants, key=lambda one: (one[1].start, -one[1].end))

    def render(start, end, inside):
        result = []
        position = start
        while inside:
            number, place = inside[0]
            inner = [one for one in inside[1:] if one[1].start < place.end]
            inside = inside[1 + len(inner):]
            result.append(text[position:place.start])
            for piece in place.pieces:
                if isinstance(piece, str):
                    result.append(piece.replace("@", str(number)).encode())
                else:
                    a, b = piece
                    result.append(render(a, b, [one for one in inner if a <= one[1].start and one[1].end <= b]))
            position = place.end
        result.append(text[position:end])
        return b"".join(result)

    return PREAMBLE + render(0, len(text), ordered)
