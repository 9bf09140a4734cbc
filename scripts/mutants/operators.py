"""Mutations that cosmic-ray does not bring along, such as a forgotten line."""

from collections.abc import Iterable, Iterator
from typing import Any

import parso
from cosmic_ray import plugins
from cosmic_ray.operators.operator import Example, Operator

Position = tuple[tuple[int, int], tuple[int, int]]
SWAPS = {"min": "max", "max": "min", "any": "all", "all": "any"}
OPPOSITES = frozenset(
    """
    Binary_Add_Sub Binary_Sub_Add Binary_Mul_Div Binary_Div_Mul Binary_FloorDiv_Mul Binary_Mod_Mul
    Binary_Pow_Mul Binary_BitOr_BitAnd Binary_BitAnd_BitOr
    Comparison_Eq_NotEq Comparison_NotEq_Eq Comparison_Lt_LtE Comparison_Lt_GtE Comparison_LtE_Lt
    Comparison_LtE_Gt Comparison_Gt_GtE Comparison_Gt_LtE Comparison_GtE_Gt Comparison_GtE_Lt
    Comparison_Is_IsNot Comparison_IsNot_Is Comparison_In_NotIn Comparison_NotIn_In
    """.split()
)
"""Of cosmic-ray's replacements of one operator by each other one: those that a person mistakes.
The others mostly raise TypeError, which every test notices."""


class RemoveStatement(Operator):  # type: ignore[misc]
    """A call whose value nobody takes, or an assignment like `+=`, is left out."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "simple_stmt" and _is_removable(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[0] = parso.parse(f"{node.children[0].get_first_leaf().prefix}pass")
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        return (Example("tell(it)\n", "pass\n"), Example("total += 1\n", "pass\n"))


class RemoveKeyword(Operator):  # type: ignore[misc]
    """A keyword argument of a call is left out, so that its default holds."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for at in _keywords(node):
            yield node.children[at].start_pos, node.children[at].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        at = list(_keywords(node))[index]
        last = at + 1 == len(node.children) or node.children[at + 1] != ","
        del node.children[at : at + (1 if last else 2)]
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        return (Example("sorted(them, key=age)", "sorted(them,)"), Example("f(a=1)", "f()"))


class SwapFunction(Operator):  # type: ignore[misc]
    """min for max, any for all, and the other way round."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "name" and node.value in SWAPS:
            before, after = node.get_previous_leaf(), node.get_next_leaf()
            if after is not None and after == "(" and (before is None or before != "."):
                yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.value = SWAPS[node.value]
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        return (Example("min(1, 2)", "max(1, 2)"),)


class TakeAll(Operator):  # type: ignore[misc]
    """A comprehension without its condition."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "comp_if":
            yield node.children[1].start_pos, node.children[1].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[1] = parso.parse(" True")
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        return (Example("[n for n in ns if n > 2]", "[n for n in ns if True]"),)


class RemoveSlice(Operator):  # type: ignore[misc]
    """The whole of what a slice takes a part of."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "trailer" and node.children[0] == "[":
            inner = node.children[1]
            if inner.type == "subscript" or inner == ":":
                yield inner.start_pos, inner.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[1] = parso.parse(":")
        return node

    @classmethod
    def examples(cls) -> Iterable[Example]:
        return (Example("them[:3]", "them[:]"),)


OWN = {one.__name__: one for one in (RemoveStatement, RemoveKeyword, SwapFunction, TakeAll)}
OWN["RemoveSlice"] = RemoveSlice
plugins.OPERATOR_PROVIDERS["kinmem"] = OWN


def is_used(name: str) -> bool:
    """Whether mutants are made with this operator of cosmic-ray or of ours."""
    short = name.partition("/")[2]
    if short.startswith(("ReplaceBinaryOperator_", "ReplaceComparisonOperator_")):
        kind, _, change = short.removeprefix("Replace").partition("Operator_")
        return f"{kind}_{change}" in OPPOSITES
    return short not in ("RemoveDecorator", "VariableReplacer", "VariableInserter")


def _is_removable(node: Any) -> bool:
    if node.type == "expr_stmt":
        return str(node.children[1].get_code()).strip() in ("+=", "-=", "|=", "&=", "*=", "/=")
    return node.type in ("atom_expr", "power") and node.children[-1].children[0] == "("


def _keywords(node: Any) -> Iterator[int]:
    """Where in a call's arguments keywords stand; none in the bases of a class."""
    if node.type == "arglist":
        inside = node.parent is not None and node.parent.type == "trailer"
    else:
        inside = node.type == "trailer" and node.children[0] == "("
    if inside:
        for at, child in enumerate(node.children):
            if child.type == "argument" and child.children[1] == "=":
                yield at
