"""The embedder in the package, with its real model."""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copy, copytree, ignore_patterns
from threading import Event

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from kinmem.errors import ModelError
from kinmem.llm.builtin import ENGLISH, FOLDER, WIDTH, WINDOW, BuiltinEmbedder, BuiltinJudge
from kinmem.llm.deadline import Deadline, Once, within
from kinmem.llm.model_files import SHIPPED
from kinmem.llm.onnx import FOLDER as E5
from kinmem.llm.onnx import marked, words_of
from scripts.judge.e5 import tokenizer_of

CORPUS = Path(__file__).parents[1] / "corpora" / "language.jsonl"

TEXTS = [
    "Ana drinks green tea every morning.",
    "The deployment failed because the disk was full.",
    "明日の会議は午後三時に始まります。",
    "🎉👩‍👩‍👧 naïve café — Ünïcödé",
    "ok",
    "word " * 300,
]


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    embedder = BuiltinEmbedder()
    embedder.warm()
    return embedder


def test_vectors_are_of_unit_length(embedder: BuiltinEmbedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), WIDTH)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_text_has_the_same_vector_whatever_stands_beside_it(embedder: BuiltinEmbedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    elsewhere = BuiltinEmbedder().embed(TEXTS[::-1])[::-1]

    assert np.array_equal(together, alone)
    assert np.array_equal(together, elsewhere)


def test_the_caller_may_change_what_came_back(embedder: BuiltinEmbedder) -> None:
    first = embedder.embed(["mine"])
    first[:] = 0

    assert np.linalg.norm(embedder.embed(["mine"])) == pytest.approx(1)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("what does Ana drink?", "Ana is fond of green tea", "The disk was full on Friday"),
        ("when is the wedding", "My sister marries on 14 June", "We use PostgreSQL for billing"),
        ("how do I open the safe", "The code of the vault is 4711", "Bob moved to Berlin"),
    ],
)
def test_an_answer_is_nearer_than_something_else(
    embedder: BuiltinEmbedder, question: str, answer: str, other: str
) -> None:
    asked, near, far = embedder.embed([question, answer, other])

    assert asked @ near > asked @ far + 0.2


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Was trinkt Ana morgens?", "Ana mag am liebsten grünen Tee.", "Die Festplatte war voll."),
        ("¿cuándo es la boda?", "Meine Schwester heiratet am 14. Juni.", "Der Zug kam zu spät."),
        ("où habite Bob ?", "Bob moved to Berlin.", "The disk was full on Friday."),
        ("Where is the spare key?", "La chiave di riserva è sotto il vaso.", "Il cane ha fame."),
        ("Quem toca violino?", "我女儿在学校乐队拉小提琴。", "洗衣机漏水了。"),
    ],
)
def test_an_answer_in_another_language_is_nearer_than_something_else(
    embedder: BuiltinEmbedder, question: str, answer: str, other: str
) -> None:
    (asked,) = embedder.embed([question], purpose="question")
    near, far = embedder.embed([answer, other])

    assert asked @ near > asked @ far + 0.15


def test_english_has_the_vectors_of_the_english_model(embedder: BuiltinEmbedder) -> None:
    texts = [
        "Ana drinks green tea every morning.",
        "We run PostgreSQL 16.",
        "ok",
        '{"level": "info", "ms": 812}',
        "def area(radius): return 3.14159 * radius ** 2",
    ]

    assert np.array_equal(embedder.embed(texts), embedder.english.embed(texts))
    assert embedder.english.name == ENGLISH


def test_the_right_model_reads_a_text(embedder: BuiltinEmbedder) -> None:
    lines = CORPUS.read_text(encoding="utf-8").splitlines()
    asked = [(one["lang"] != "en", one["text"]) for one in map(json.loads, lines)]
    both = zip(embedder.embed([text for _, text in asked]), asked, strict=True)
    read = [not np.array_equal(row, embedder.english.embed([one])[0]) for row, (_, one) in both]

    right = [found is wanted for found, (wanted, _) in zip(read, asked, strict=True)]
    assert sum(right) >= 0.95 * len(asked)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_the_judge_and_the_embedder_have_one_matrix_of_words() -> None:
    """Models that other tests have loaded may hold another."""

    def matrices() -> int:
        files = Path("/proc/self/fd").iterdir()
        return sum(one.is_symlink() and one.readlink().name == "words.npy" for one in files)

    before, embedder, judge = matrices(), BuiltinEmbedder(), BuiltinJudge()
    embedder.embed(["Ana trinkt jeden Morgen grünen Tee."])
    judge.commands("Ana trinkt jeden Morgen grünen Tee.")

    assert embedder.languages.loaded
    assert matrices() <= before + 1


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="looks into /proc")
def test_words_that_are_read_do_not_count_as_memory_of_the_process() -> None:
    words = words_of(E5)
    words.vectors(range(0, 76_000, 100))

    _, *mappings = Path("/proc/self/smaps").read_text().split("words.npy\n")
    resident = [re.search(r"^Rss: +(\d+) kB", one, re.MULTILINE) for one in mappings]
    assert sum(int(found[1]) for found in resident if found) < 1000  # before: 28,000


def test_english_loads_nothing_for_other_languages() -> None:
    embedder = BuiltinEmbedder()
    embedder.embed(["Ana drinks green tea every morning."])

    assert not embedder.languages.loaded
    embedder.embed(["Ana trinkt jeden Morgen grünen Tee."])
    assert embedder.languages.loaded


@pytest.mark.parametrize("broken", ["embedder.onnx", "map.npy", "foreign.npy", "pieces.txt"])
def test_missing_languages_are_told_by_embed(broken: str, tmp_path: Path) -> None:
    for file in E5.iterdir():
        if file.name != broken:
            (tmp_path / file.name).symlink_to(file)
    embedder = BuiltinEmbedder(others=tmp_path)

    with pytest.raises(ModelError, match="reinstall kinmem .* MEMORY_EMBEDDING_MODEL"):
        embedder.embed(["Ana trinkt jeden Morgen grünen Tee."])


@pytest.fixture(scope="module")
def theirs() -> Tokenizer:
    """The package tokenizers with the same pieces, as any other model is read."""
    made = tokenizer_of(E5)
    made.encode_special_tokens = True
    return made


def test_word_pieces_are_those_of_the_package_tokenizers(theirs: Tokenizer) -> None:
    words = words_of(E5)
    texts = [json.loads(line)["text"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    odd = ["\n".join(texts[:200]), "会議は午後三時" * 200, "", " ", "▁ ▁▁a", "<s>x</s>"]

    for text in texts + odd:
        read = theirs.encode(text, add_special_tokens=False)
        assert words.placed(text) == (read.ids, read.offsets)
    assert marked(words.ids("tea"), words.ids("Tee")) == theirs.encode("tea", "Tee").ids


@given(text=st.text(max_size=40) | st.text("abß ▁\t\u200b\ufeffﬁ①中가e\u0301😀", max_size=40))
def test_so_are_those_of_any_text(theirs: Tokenizer, text: str) -> None:
    read = theirs.encode(text, add_special_tokens=False)

    assert words_of(E5).placed(text) == (read.ids, read.offsets)


def test_no_texts_need_no_model(tmp_path: Path) -> None:
    assert BuiltinEmbedder(tmp_path).embed([]).shape == (0, WIDTH)


def test_marks_of_the_vocabulary_are_ordinary_words_in_a_text(embedder: BuiltinEmbedder) -> None:
    marked, plain, unmarked = embedder.embed(["[MASK] [SEP]", "[mask] [sep]", "[] []"])

    assert np.array_equal(marked, plain)
    assert not np.array_equal(marked, unmarked)


def test_of_a_long_text_the_beginning_counts(embedder: BuiltinEmbedder) -> None:
    whole, window = embedder.embed(["tea " * 1000, "tea " * WINDOW])

    assert np.array_equal(whole, window)


def test_threads_that_come_first_together_get_the_same(embedder: BuiltinEmbedder) -> None:
    fresh = BuiltinEmbedder()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda text: fresh.embed([text])[0], TEXTS * 4))

    assert np.array_equal(np.array(answers), np.tile(embedder.embed(TEXTS), (4, 1)))


def test_it_is_ready_once_it_is_warm() -> None:
    embedder = BuiltinEmbedder()

    assert not embedder.ready
    embedder.warm()
    assert embedder.ready


@pytest.mark.parametrize("broken", ["model_int8.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"no model"], ids=["missing", "empty", "garbage"])
def test_a_broken_installation_is_told_by_embed(
    broken: str, content: bytes | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in {"model_int8.onnx", "tokenizer.json"} - {broken}:
        copy(FOLDER / name, tmp_path)
    if content is not None:
        (tmp_path / broken).write_bytes(content)
    embedder = BuiltinEmbedder(tmp_path)

    embedder.warm()

    assert not embedder.ready
    for _ in range(2):
        with pytest.raises(ModelError, match="reinstall kinmem .* MEMORY_EMBEDDING_MODEL"):
            embedder.embed(["tea"])
    assert embedder.pieces("tea", 800) == ["tea"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_told_by_embed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ModelError, match=f"{package}.*reinstall kinmem"):
        BuiltinEmbedder().embed(["tea"])


def test_the_deadline_holds_between_texts(embedder: BuiltinEmbedder) -> None:
    with pytest.raises(ModelError, match="embedding 10000 texts .* 0.05 seconds"):
        embedder.embed(["a text of several words"] * 10_000, deadline=0.05)


def test_who_cannot_wait_for_loading_is_told_and_the_next_is_served() -> None:
    go = Event()
    slow = Once("loading", lambda: go.wait(10))

    with pytest.raises(ModelError, match="loading took longer than the 0.01 seconds"):
        slow.get(Deadline(0.01))
    assert not slow.made
    go.set()
    assert slow.get() is True
    assert slow.made


def test_late_work_is_left_behind() -> None:
    go = Event()

    with pytest.raises(ModelError, match="asking took longer than the 0.01 seconds"):
        within(Deadline(0.01), "asking", lambda: go.wait(10))
    go.set()


def test_importing_it_loads_no_model_library() -> None:
    code = (
        "import sys; from kinmem.llm.builtin import BuiltinEmbedder; BuiltinEmbedder();"
        "print(*{'onnxruntime', 'tokenizers', 'litellm', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "\n"


def test_the_notice_names_the_files_as_they_are() -> None:
    notice = (FOLDER / "NOTICE").read_text()

    for name in ("model_int8.onnx", "tokenizer.json"):
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() in notice


def word_pieces(embedder: BuiltinEmbedder, text: str) -> int:
    return len(embedder._tokens(text))


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_text_that_fits_is_one_piece(embedder: BuiltinEmbedder) -> None:
    assert embedder.pieces(" Ana likes tea.\n", 800) == [" Ana likes tea.\n"]


def test_pieces_are_whole_sentences_as_long_as_they_fit(embedder: BuiltinEmbedder) -> None:
    text = " ".join(f"Sentence number {n} says that Ana likes tea." for n in range(60))

    parts = embedder.pieces(text, 10_000)

    assert " ".join(parts) == text
    assert all(part.startswith("Sentence") and part.endswith("tea.") for part in parts)
    assert all(word_pieces(embedder, part) > WINDOW - 12 for part in parts[:-1])


def test_a_sentence_that_is_too_long_is_cut_between_words(embedder: BuiltinEmbedder) -> None:
    text = " ".join(["internationalisation"] * 100)

    parts = embedder.pieces(text, 10_000)

    assert len(parts) > 1
    assert {word for part in parts for word in part.split()} == {"internationalisation"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("明日の会議は午後三時に始まります" * 40, id="no spaces"),
        pytest.param("안녕하세요 세계 " * 60, id="syllables of several word pieces"),
        pytest.param("👩‍👩‍👧" * 500, id="joined emoji"),
        pytest.param("é" * 2000, id="one endless word"),
        pytest.param("\u0301" * 2000, id="nothing but accents"),
        pytest.param("https://example.org/" + "path/" * 300, id="an address"),
        pytest.param("a" * 99 + " " + "b" * 5000, id="a word the model does not read"),
        pytest.param("\x1f".join("abc" * 200), id="controls that are no word ends"),
    ],
)
def test_each_piece_fits_and_nothing_is_lost(embedder: BuiltinEmbedder, text: str) -> None:
    check_pieces(embedder, text, 800)


def test_an_emoji_stays_whole(embedder: BuiltinEmbedder) -> None:
    family = "👩‍👩‍👧"

    assert set(embedder.pieces(family * 500, 13)) == {family * 2}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text() | st.sampled_from(["word ", "Ünï. ", "漢字", "한글", "\n\n"]), max_size=80),
    st.integers(1, 900),
)
@example(["한글 한" * 70], 800)
def test_pieces_fit_whatever_the_text(parts: list[str], limit: int) -> None:
    check_pieces(SHARED, "".join(parts * 3), limit)


SHARED = BuiltinEmbedder()


def check_pieces(embedder: BuiltinEmbedder, text: str, limit: int) -> None:
    parts = embedder.pieces(text, limit)

    assert squeezed("".join(parts)) == squeezed(text)
    assert all(len(part) <= limit for part in parts)
    assert all(word_pieces(embedder, part) <= WINDOW for part in parts)


def test_the_runtime_of_the_model_reports_to_nobody(tmp_path: Path) -> None:
    """It writes what it would send below the home before it sends it."""
    (tmp_path / "home").mkdir()
    told = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    code = "from kinmem.llm.builtin import BuiltinEmbedder; BuiltinEmbedder().embed(['hello'])"

    subprocess.run([sys.executable, "-c", code], env={**os.environ, **told}, check=True)

    assert [path.name for path in tmp_path.rglob("*")] == ["home"]


def test_a_network_of_the_package_that_was_changed_is_not_loaded(tmp_path: Path) -> None:
    package = Path(FOLDER).parents[1]
    copytree(package, tmp_path / "kinmem", ignore=ignore_patterns("__pycache__"))
    network = tmp_path / "kinmem" / "llm" / "minilm" / "model_int8.onnx"
    code = "from kinmem.llm.builtin import BuiltinEmbedder; BuiltinEmbedder().embed(['tea'])"

    def loaded() -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        run = [sys.executable, "-c", code]
        return subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)

    assert loaded().returncode == 0
    changed = bytearray(network.read_bytes())
    changed[len(changed) // 2] ^= 1
    network.write_bytes(changed)
    assert "is not the file that was released; reinstall kinmem" in loaded().stderr


def test_the_networks_of_the_package_are_those_that_are_released() -> None:
    llm = Path(FOLDER).parent
    found = {str(path.relative_to(llm)): sha256(path) for path in llm.glob("*/*.onnx")}

    assert found == SHIPPED


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
