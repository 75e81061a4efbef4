"""The turns of rotary positions as published configurations say them, in 50 digits."""
import decimal
import math
from decimal import Decimal

decimal.getcontext().prec = 50
PI = Decimal('3.14159265358979323846264338327950288419716939937511')


def published(dim, config, positions):
    """Radians of each pair from one position to the next."""
    kind, base, pairs = config.get('rope_type', config.get('type')), Decimal(config.get('rope_theta', 10000.0)), dim // 2
    plain = [base ** (-Decimal(i) / pairs) for i in range(pairs)]
    factor, original = Decimal(config.get('factor', 1)), config.get('original_max_position_embeddings')
    if kind == 'linear':
        return [f / factor for f in plain]
    if kind == 'proportional':
        return [f if i < int(config['partial_rotary_factor'] * dim) // 2 else Decimal(0) for i, f in enumerate(plain)]
    if kind == 'longrope':
        return [f / Decimal(by) for f, by in zip(plain, config['long_factor' if positions > original else 'short_factor'])]
    if kind == 'llama3':
        low, high = Decimal(config['low_freq_factor']), Decimal(config['high_freq_factor'])
        fast = [min(max((original * f / (2 * PI) - low) / (high - low), Decimal(0)), Decimal(1)) for f in plain]
    else:
        pair = lambda rotations: pairs * (original / (rotations * 2 * PI)).ln() / base.ln()
        low, high = pair(Decimal(config.get('beta_fast', 32))), pair(Decimal(config.get('beta_slow', 1)))
        if config.get('truncate', True):
            low, high = Decimal(math.floor(low)), Decimal(math.ceil(high))
        fast = [1 - min(max((i - low) / (high - low), Decimal(0)), Decimal(1)) for i in range(pairs)]
    return [f * part + f / factor * (1 - part) for f, part in zip(plain, fast)]
