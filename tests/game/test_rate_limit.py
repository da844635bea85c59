"""Token buckets."""

from __future__ import annotations

from salvo_game.rate_limit import Bucket, Buckets, Rate


def test_a_bucket_is_full_at_first_and_empty_after_its_size() -> None:
    bucket = Bucket(Rate(3, 2), 1_000)
    assert [bucket.take(1_000) for _ in range(4)] == [True, True, True, False]


def test_a_bucket_fills_with_time_up_to_its_size() -> None:
    bucket = Bucket(Rate(3, 2), 1_000)
    for _ in range(3):
        bucket.take(1_000)
    assert not bucket.take(1_499)
    assert bucket.take(1_500)
    assert not bucket.take(1_999)
    assert [bucket.take(60_000) for _ in range(4)] == [True, True, True, False]


def test_a_token_that_is_given_back_can_be_spent_and_never_exceeds_the_size() -> None:
    bucket = Bucket(Rate(2, 1), 0)
    bucket.give_back()
    assert [bucket.take(0) for _ in range(3)] == [True, True, False]
    bucket.give_back()
    assert [bucket.take(0) for _ in range(2)] == [True, False]


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets: Buckets[str] = Buckets(4, Rate(1, 1))
    assert [buckets.take(key, 0) for key in ("a", "b", "a", "b")] == [True, True, False, False]
    assert buckets.take("a", 1_000)


def test_the_bucket_that_was_used_longest_ago_is_forgotten() -> None:
    buckets: Buckets[str] = Buckets(2, Rate(1, 1))
    for key in ("a", "b", "a", "c"):
        buckets.take(key, 0)
    assert not buckets.take("a", 0)  # it was used after b
    assert not buckets.take("c", 0)
    assert buckets.take("b", 0)  # forgotten, and so full again
