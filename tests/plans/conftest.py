import pytest

from lib.plans.generate import generate
from lib.plans.records import Record


@pytest.fixture(scope="session")
def records() -> list[Record]:
    return generate(seed=7)
