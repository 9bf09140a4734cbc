"""Networks give the same numbers on every processor, and take longer only where they must."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnxruntime
import pytest

from kinmem.llm.builtin import BuiltinEmbedder, BuiltinJudge
from kinmem.llm.model_files import SUMS, adds_exactly, session_of

onnx = pytest.importorskip("onnx")
LEFT, RIGHT = np.full((8, 64), 255, np.uint8), np.full((64, 16), 127, np.int8)
CUT_OFF = 32 * 32767
"""What becomes of a sum of 64 large products where each pair is added in 16 bits."""
SLOWER = "session.x64quantprecision"
TEXTS = ["The cat sat on the mat.", "Ana is allergic to peanuts.", "Soy alérgico a las avellanas."]


@pytest.fixture
def without_vnni(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A processor that cuts off sums unless it is told to take its time."""

    class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
        def run(self, wanted: Any, given: Any, *more: Any) -> Any:
            found = super().run(wanted, given, *more)
            is_cut_off = "sums" in (one.name for one in self.get_outputs()) and not slower(self)
            return [np.minimum(one, CUT_OFF) for one in found] if is_cut_off else found

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    adds_exactly.cache_clear()
    yield
    adds_exactly.cache_clear()


def slower(session: Any) -> bool:
    return bool(session.get_session_options().get_session_config_entry(SLOWER) == "1")


def sums_of(session: Any) -> Any:
    return session.run(["sums"], {"left": LEFT, "right": RIGHT})[0]


def test_no_sum_is_cut_off_on_this_processor() -> None:
    assert (sums_of(session_of(SUMS)) == 64 * 255 * 127).all()


def test_a_processor_that_cuts_off_sums_is_told_to_take_its_time(without_vnni: None) -> None:
    session = session_of(SUMS)

    assert slower(session)
    assert (sums_of(session) == 64 * 255 * 127).all()


def test_one_that_adds_exactly_is_not() -> None:
    assert slower(session_of(SUMS)) is not adds_exactly()


def test_vectors_and_verdicts_are_the_same_to_the_bit(request: pytest.FixtureRequest) -> None:
    def numbers() -> tuple[list[list[float]], object]:
        return BuiltinEmbedder().embed(TEXTS).tolist(), BuiltinJudge().relations(TEXTS, TEXTS[0])

    usual = numbers()
    request.getfixturevalue("without_vnni")

    assert numbers() == usual


def test_what_is_asked_of_the_processor_is_one_product_of_two_matrices() -> None:
    from onnx import TensorProto, helper

    def shaped(name: str, kind: int, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    left = shaped("left", TensorProto.UINT8, 8, 64)
    right = shaped("right", TensorProto.INT8, 64, 16)
    product = helper.make_node("MatMulInteger", ["left", "right"], ["sums"])
    sums = shaped("sums", TensorProto.INT32, 8, 16)
    graph = helper.make_graph([product], "sums", [left, right], [sums])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)

    assert made.SerializeToString() == SUMS.read_bytes()
