"""Counts cases, a line for each: ok and refused, and how many failed."""
import attend

failed = 0


def ok(what, right, why=''):
    global failed
    failed += not right
    print(f'ok   {what}' if right else f'FAIL {what}: {why}', flush=True)
    return right


def refused(what, text, call):
    try:
        call()
        ok(what, False, 'it was taken')
    except attend.AttendError as error:
        ok(what, text in str(error), f'expected "{text}", found "{error}"')
