"""How far the broker has confirmed what was published."""

from __future__ import annotations

import pytest

from salvo_server.core.play import Delivery


@pytest.fixture
def delivery() -> Delivery:
    return Delivery()


def test_a_step_is_sent_once_all_its_messages_are_confirmed(delivery: Delivery) -> None:
    delivery.publish(5, 1)
    delivery.publish(9, 3)
    assert delivery.take_sent_through(4) is None
    assert delivery.take_sent_through(5) == 1
    assert delivery.take_sent_through(8) is None
    assert delivery.take_sent_through(9) == 3
    assert delivery.take_sent_through(9) is None


def test_a_turn_counts_as_begun_once_its_announcement_is_delivered(delivery: Delivery) -> None:
    delivery.begin_turn("blue", 7)
    assert delivery.take_delivered(100) == []  # not published yet
    delivery.publish(10, 1)
    assert delivery.take_delivered(9) == []
    assert delivery.take_delivered(10) == [("blue", 7)]
    assert delivery.take_delivered(11) == []


def test_a_turn_announced_again_waits_for_the_new_delivery(delivery: Delivery) -> None:
    """The confirmation of the earlier announcement would have let the bank run before the team knew of it."""
    delivery.begin_turn("", 7)
    delivery.publish(10, 1)
    delivery.begin_turn("", 7)
    assert delivery.take_delivered(10) == []
    delivery.publish(12, 2)
    assert delivery.take_delivered(11) == []
    assert delivery.take_delivered(12) == [("", 7)]
