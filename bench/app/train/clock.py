"""Times of the day as people say them. An hour without a part of the day is meant as it is named: at five is 5:00."""
import zlib

from numbers_in_words import ONES, either, in_words


def time(rng):
    kind = rng.random()
    if kind < 0.05:
        hour, minute, text = noon_or_midnight(rng)
    elif kind < 0.2:
        hour, minute = rng.randrange(24), some_minute(rng)
        text = of_24_hours(hour, minute, rng)
    else:
        hour, minute = rng.randrange(24), some_minute(rng)
        named, text = of_12_hours(hour, minute, rng)
        if hour in range(1, 13) and rng.random() < 0.6:
            text = rng.choice((text, text, text, text + " tomorrow", text + " today", "tomorrow at " + text))
        else:
            text = with_part_of_day(text, hour, named, rng)
    return {"time": f"{hour}:{minute:02}"}, text


def held_out(text):
    """Whether training never sees this way to say a time: about one in eight. What is one word, it sees."""
    return " " in text and zlib.crc32(text.encode()) % 8 == 0


def some_minute(rng):
    return rng.choice((0, 0, 0, 15, 30, 45, rng.randrange(60), *(rng.randrange(12) * 5 for _ in range(5))))


def noon_or_midnight(rng):
    hour, name = rng.choice(((12, "noon"), (0, "midnight")))
    if rng.random() < 0.5:
        return hour, 0, rng.choice((name, name, name, "twelve " + name, "12 " + name))
    minute = rng.randrange(1, 12) * 5
    return hour if minute <= 30 else (hour + 23) % 24, minute, beside(minute, name, name, rng)


def of_24_hours(hour, minute, rng):
    if rng.random() < 0.4:
        return rng.choice((f"{hour}:{minute:02}", f"{hour}:{minute:02}", f"{hour:02}:{minute:02}", f"{hour:02}{minute:02}"))
    name = in_words(hour, rng) if hour > 9 else rng.choice(("oh ", "zero ")) + ONES[hour]
    if minute == 0:
        return name + rng.choice((" hundred", " hundred hours", " o clock" if hour > 9 else " hundred"))
    return name + " " + after_an_hour(minute, rng)


def of_12_hours(hour, minute, rng):
    """The hour that is named, from 1 to 12, and the text."""
    named, next_hour = (hour + 11) % 12 + 1, hour % 12 + 1
    name, kind = either(named, rng), rng.random()
    if minute == 0:
        return named, rng.choice((name, name, name, name + " o clock", name + " oclock", f"{named}:00"))
    if kind < 0.25:
        return named, rng.choice((f"{named}:{minute:02}", f"{named}:{minute:02}", f"{named}{minute:02}"))
    if kind < 0.45 or minute % 5 != 0 and kind < 0.8:
        return named, ONES[named] + " " + after_an_hour(minute, rng)
    return named if minute <= 30 else next_hour, beside(minute, name, either(next_hour, rng), rng)


def after_an_hour(minute, rng):
    return ("oh " if minute < 10 else "") + in_words(minute, rng)


def beside(minute, name, next_name, rng):
    """A time as so many minutes after or before the name of an hour."""
    if minute == 30:
        return rng.choice(("half past ", "half past ", "half past ", "half ")) + name
    count, name = (minute, name) if minute < 30 else (60 - minute, next_name)
    words = rng.choice(("quarter", "quarter", "a quarter")) if count == 15 else either(count, rng)
    words += rng.choice(("", "", " minutes")) if count % 5 == 0 and count != 15 else "" if count == 15 else " minutes"
    return f"{words} {rng.choice(('past', 'past', 'after') if minute < 30 else ('to', 'to', 'to', 'till', 'before'))} {name}"


def with_part_of_day(text, hour, named, rng):
    # Twelve is between both halves of the day: a quarter to twelve a.m. means one thing to some and another to others.
    behind, before = [], []
    if named != 12 or hour in (0, 12):
        behind += [" am", " am", " a m"] if hour < 12 else [" pm", " pm", " p m"]
    if hour in range(1, 12):
        behind += [" in the morning", " in the morning", " this morning", " tomorrow morning"]
        before += ["tomorrow morning", "this morning"]
    if hour in range(12, 18):
        behind += [" in the afternoon", " in the afternoon", " this afternoon", " tomorrow afternoon"]
        before += ["this afternoon"]
    if hour in range(17, 23):
        behind += [" in the evening", " in the evening", " this evening", " tomorrow evening"]
        before += ["this evening", "tomorrow evening"]
    if hour > 19:
        behind += [" at night", " tonight"]
        before += ["tonight"]
    if hour < 5:
        behind += [" at night"]
    return rng.choice(before) + " at " + text if before and rng.random() < 0.2 else text + rng.choice(behind)
