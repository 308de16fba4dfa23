"""A desk that several helpers use side by side: every call has its own number, and nothing that was paid for is lost."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from rolecall.agents import calls as desks
from rolecall.agents.calls import Desk, read_round
from rolecall.campaign import calllog, records
from rolecall.errors import NoModel
from rolecall.models import usage
from rolecall.models.events import Skipped
from rolecall.models.messages import Message, Request, Text
from tests.agents.asking import campaign_in, chain_of

THREADS, ROUNDS = 8, 6


@pytest.fixture(autouse=True)
def _hasty() -> Iterator[None]:
    """New threads let each other go first at every step of what a desk does, so that whatever is unguarded comes apart."""
    watched = {module.__file__ for module in (desks, calllog, usage)}

    def step(frame: FrameType, event: str, _: object) -> Callable | None:
        if frame.f_code.co_filename not in watched:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            time.sleep(0)
        return step

    before = threading.gettrace()
    threading.settrace(step)
    yield
    threading.settrace(before)


def request(text: str) -> Request:
    return Request((Text("You help."),), (Message("user", (Text(text),)),))


def side_by_side(work: Callable[[int], None]) -> None:
    """Run it in every thread from the same moment on; what fails in one fails here."""
    start, failed = threading.Barrier(THREADS), []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_eight_helpers_at_one_desk_keep_their_calls_usage_and_faults_apart(tmp_path, script):
    campaign = campaign_in(tmp_path)
    record = records.begin(campaign.root, 5, "I wait.")
    desk = Desk(record)
    answer = [{"role": "sidecar", "text": f"one answer {n}"} for n in range(ROUNDS)]
    chains = [chain_of(script('[{"error": "500"}]'), script(json.dumps(answer))) for _ in range(THREADS)]
    given: list[list] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        for n in range(ROUNDS):
            asking = request(f"{number}:{n}")
            given[number].append(list(desk.stream("helper", chains[number], lambda _, asking=asking: asking)))

    side_by_side(work)
    rounds = [read_round(events) for mine in given for events in mine]
    assert [r.text for r in rounds] == [f"one answer {n}" for n in range(ROUNDS)] * THREADS
    calls = records.calls(campaign.root, record.folder)
    names = sorted(path.name for path in (campaign.root / record.folder / "calls").glob("*.json"))
    assert names == [f"{number:03d}-helper.json" for number in range(1, THREADS * ROUNDS + 1)]
    assert record.calls == THREADS * ROUNDS and all(call.complete for call in calls)
    asked = sorted(call.request["messages"][-1]["parts"][0]["text"] for call in calls)
    assert asked == sorted(f"{number}:{n}" for number in range(THREADS) for n in range(ROUNDS))
    used = [e.usage for mine in given for events in mine for e in events if hasattr(e, "usage")]
    assert desk.usage["helper"].out == sum(each.out for each in used) > 0
    assert desk.usage["helper"].prompt == sum(each.prompt for each in used) > 0
    skipped = [e for mine in given for events in mine for e in events if isinstance(e, Skipped)]
    assert len(desk.skipped) == len(skipped) >= THREADS


def test_a_paid_answer_is_given_to_one_of_eight_who_ask_for_it(tmp_path, script):
    campaign = campaign_in(tmp_path)
    record = records.begin(campaign.root, 5, "I wait.")
    list(Desk(record).stream("helper", chain_of(script('[{"text": "paid for"}]')), lambda _: request("the same")))
    records.set_aside(campaign.root, record.folder, "draft")
    desk = Desk(records.begin(campaign.root, 5, "I wait."), paid=records.paid_answers(campaign.root, 5))
    chains = [chain_of(script('[{"text": "asked anew"}]')) for _ in range(THREADS)]
    told: list[str] = []

    def work(number: int) -> None:
        told.append(read_round(list(desk.stream("helper", chains[number], lambda _: request("the same")))).text)

    side_by_side(work)
    assert sorted(told) == ["asked anew"] * (THREADS - 1) + ["paid for"]


def test_a_request_is_on_record_before_the_first_of_its_answer_is_handed_on(tmp_path, script):
    campaign = campaign_in(tmp_path)
    record = records.begin(campaign.root, 5, "I wait.")
    events = Desk(record).stream("helper", chain_of(script('[{"text": "a word"}]')), lambda _: request("asked"))
    next(events)
    (call,) = records.calls(campaign.root, record.folder)
    assert call.request["messages"][-1]["parts"][0]["text"] == "asked" and not call.complete
    list(events)
    assert [call.complete for call in records.calls(campaign.root, record.folder)] == [True]


def test_a_model_that_gives_no_answer_leaves_no_call_behind(tmp_path, script):
    campaign = campaign_in(tmp_path)
    record = records.begin(campaign.root, 5, "I wait.")
    with pytest.raises(NoModel):
        list(Desk(record).stream("helper", chain_of(script('[{"error": "500"}]')), lambda _: request("asked")))
    assert list((campaign.root / record.folder / "calls").iterdir()) == [] and record.calls == 0
