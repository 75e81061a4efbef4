"""Numbers as people say them."""
ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number, rng):
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + ("" if number % 10 == 0 else " " + ONES[number % 10])
    hundreds = ("hundred", "a hundred", "one hundred")[rng.randrange(3)] if number < 200 else ONES[number // 100] + " hundred"
    rest = number % 100
    return hundreds if rest == 0 else hundreds + rng.choice((" ", " and ")) + in_words(rest, rng)


def either(number, rng):
    return str(number) if rng.random() < 0.45 else in_words(number, rng)


def level(rng):
    number = rng.randrange(1, 21) * 5 if rng.random() < 0.5 else rng.randrange(1, 101)
    if rng.random() < 0.03:
        return {"level": "50"}, "half"
    if rng.random() < 0.15:
        return {"level": str(number)}, f"{number}%"
    return {"level": str(number)}, either(number, rng) + rng.choice((" percent", " percent", " per cent", "", ""))


def degrees(rng):
    number = rng.randrange(10, 31)
    return {"degrees": str(number)}, either(number, rng) + rng.choice((" degrees", " degrees", " degrees", " degrees celsius", ""))


def oven(rng):
    number = rng.randrange(10, 57) * 5
    return {"degrees": str(number)}, either(number, rng) + rng.choice((" degrees", " degrees", " degrees celsius", ""))


def duration(rng):
    kind = rng.random()
    if kind < 0.05:
        return {"minutes": "30"}, "half an hour"
    if kind < 0.08:
        return {"hours": "1"}, "an hour"
    if kind < 0.11:
        return {"minutes": "1"}, "a minute"
    if kind < 0.14:
        return {"minutes": "15"}, rng.choice(("quarter of an hour", "a quarter of an hour"))
    unit = "minutes" if kind < 0.7 else "seconds" if kind < 0.85 else "hours"
    number = rng.randrange(1, 13) if unit == "hours" else rng.randrange(1, 100)
    names = {"minutes": ("minutes", "minutes", "minute", "min"), "seconds": ("seconds", "second"), "hours": ("hours", "hour")}
    return {unit: str(number)}, either(number, rng) + " " + rng.choice(names[unit])


def speed(rng):
    number = rng.randrange(1, 6)
    return {"level": str(number)}, either(number, rng)


def channel(rng):
    number = rng.randrange(1, 100)
    return {"channel": str(number)}, either(number, rng)


def excess(rng):
    """More than anything in the house can be set to."""
    number = rng.randrange(101, 1000) if rng.random() < 0.7 else rng.randrange(11, 100) * 10 + 100
    return {"excess": str(number)}, either(number, rng)


SLOTS = {f.__name__: f for f in (level, degrees, oven, duration, speed, channel, excess)}
