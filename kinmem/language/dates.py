"""The times that a text names, read on the day on which it was said or asked."""

from dataclasses import dataclass
from datetime import date, datetime

from kinmem.language.time import dated, when
from kinmem.language.time.calendar import Stretch
from kinmem.language.time.dated import RelativeDate
from kinmem.language.time.when import Interval


@dataclass(frozen=True, slots=True)
class Dates:
    """A text and the aware moment, in its writer's zone, at which it was said. Never raises."""

    text: str
    said: datetime

    @property
    def relative(self) -> list[RelativeDate]:
        """Its relative times that can mean one stretch only, in order."""
        return dated.relative_dates(self.text, self.said)

    @property
    def written_out(self) -> str:
        """The text with a date behind each of these: yesterday (2023-05-07)."""
        return dated.with_dates(self.text, self.said)

    @property
    def of_event(self) -> date | None:
        """The earlier day on which it happened; see time/dated.py."""
        return dated.day_of_event(self.text, self.said)

    @property
    def asked(self) -> tuple[Interval, str] | None:
        """The one stretch of time that a question names, and the phrase that names it."""
        return when.interval_in_question(self.text, self.said)

    @property
    def asked_of_past(self) -> tuple[Interval, str] | None:
        """The stretch of the past of which a question asks how things stood then."""
        return when.past_in_question(self.text, self.said)

    @property
    def asked_before(self) -> str:
        """What is named behind "before": what came next; else nothing."""
        return when.successor_in_question(self.text)

    @property
    def end(self) -> datetime | None:
        """When what it states ends by itself: until June I live in Porto."""
        return when.valid_until(self.text, self.said)

    def alone(self, *, ahead: bool = False) -> Stretch | None:
        """The time, if the text names one and says nothing else. Of a weekday `ahead` takes the
        next instead of the latest one."""
        return dated.named_stretch(self.text, self.said, ahead=ahead)
