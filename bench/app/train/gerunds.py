"""Commands as they stand after "would you mind": with their verb as a gerund."""
VERBS = set("""abort activate add adjust alert begin block bolt boost brew brighten bring call cancel change charge check clean clear close
continue cook cool count crank create cut darken deactivate decrease delete dim disable disengage dock draw drive drop dye enable end
engage entertain erase extinguish fetch find finish fix flip forward free freeze get give go halt have heat hold hoover hush
illuminate increase interrupt jump keep kill leave let lift light lighten load lock look lower make measure move mute open order paint
park pause pick play pour power preheat prepare pull put raise read recharge reduce regulate release remind remove report reset
resume return ring roll run schedule secure see select send set show shut silence skip slow soften speed start stop strengthen sweep
switch take tell throw tidy tune turn unbolt undo unlock unroll use vacuum wake warm warn watch weaken""".split())
DOUBLED = set("begin cut dim drop flip get let put reset run set shut skip stop".split())


def gerund(verb):
    if verb.endswith("e") and verb not in ("free", "see", "dye"):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if verb in DOUBLED else "") + "ing"


def with_gerund(command):
    """The command with its first word as a gerund, or None where that is no verb."""
    verb, _, rest = command.partition(" ")
    return f"{gerund(verb)} {rest}".strip() if verb in VERBS else None
