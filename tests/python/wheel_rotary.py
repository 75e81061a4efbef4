"""Rotary positions of the Python package: turns of published configurations beside the formulas in 50 digits: tests/python/wheel_rotary.py.
Needs numpy."""
import math
from decimal import Decimal

import attend
import numpy as np
from published_rotary import PI, published
from wheel_checks import check, draw, finish, refused, same

FAR = 2 ** 20
LISTS = [1.0 + 0.25 * i for i in range(48)], [2.0 + 1.5 * i for i in range(48)]
MODELS = [  # name, rotary_dim, configuration, positions
    ('Llama 3.1', 128, {'rope_type': 'llama3', 'rope_theta': 500000.0, 'factor': 8.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0,
                        'original_max_position_embeddings': 8192}, None),
    ('Qwen 3', 128, {'rope_type': 'yarn', 'rope_theta': 1000000.0, 'factor': 4.0, 'original_max_position_embeddings': 32768}, None),
    ('gpt-oss', 64, {'rope_type': 'yarn', 'rope_theta': 150000.0, 'factor': 32.0, 'beta_fast': 32.0, 'beta_slow': 1.0, 'truncate': False,
                     'original_max_position_embeddings': 4096}, None),
    ('DeepSeek V3', 64, {'type': 'yarn', 'factor': 40, 'beta_fast': 32, 'beta_slow': 1, 'mscale': 1.0, 'mscale_all_dim': 1.0,
                         'original_max_position_embeddings': 4096}, None),
    ('Gemma 3', 256, {'rope_type': 'linear', 'rope_theta': 1000000.0, 'factor': 8.0}, None),
    ('Gemma 4', 512, {'rope_type': 'proportional', 'rope_theta': 1000000.0, 'partial_rotary_factor': 0.25}, None),
    ('Phi-4-mini', 96, {'type': 'longrope', 'short_factor': LISTS[0], 'long_factor': LISTS[1], 'factor': 32.0,
                        'original_max_position_embeddings': 4096}, 4096),
    ('Phi-4-mini, long', 96, {'type': 'longrope', 'short_factor': LISTS[0], 'long_factor': LISTS[1], 'factor': 32.0,
                              'original_max_position_embeddings': 4096}, 131072),
]
FACTORS = {'Qwen 3': 0.1 * math.log(4) + 1, 'gpt-oss': 0.1 * math.log(32) + 1, 'Phi-4-mini': math.sqrt(1 + math.log(32) / math.log(4096)),
           'Phi-4-mini, long': math.sqrt(1 + math.log(32) / math.log(4096))}


worst = Decimal(0)
for name, dim, config, positions in MODELS:
    rotary = attend.Rotary(dim, 'halves', scaling=config, positions=positions)
    for turns, radians in zip(rotary._turns, published(dim, config, positions)):
        off = Decimal(turns * FAR % 2 ** 64) / 2 ** 64 - radians * FAR / (2 * PI) % 1
        worst = max(worst, abs(off - round(off)) * 2 * PI)
    check(rotary.c.factor == np.float32(FACTORS.get(name, 1.0)), f'{name}: attention factor')
check(worst < Decimal('1e-6'), f'angles at position {FAR} are off by {worst:.2e} radians')
print(f'angles of {len(MODELS)} configurations at position {FAR}: within {worst:.1e} radians of 50 digits')


def rotated(rotary):
    x = (np.arange(2 * 3 * 8, dtype=np.float32) - 20).reshape(2, 3, 8)
    attend.rotate(x, rotary, 12345)
    return x


same('a linear scaling', rotated(attend.Rotary(8, 'halves', scaling={'rope_type': 'linear', 'factor': 4.0})), rotated(attend.Rotary(8, 'halves', 1e4, 4.0)))
same('a number that is null', rotated(attend.Rotary(8, 'halves', scaling={'type': 'yarn', 'factor': 4.0, 'beta_fast': None,
     'original_max_position_embeddings': 128})), rotated(attend.Rotary(8, 'halves', scaling={'type': 'yarn', 'factor': 4.0,
     'original_max_position_embeddings': 128})))
same('no scaling', rotated(attend.Rotary(8, 'halves', scaling={'rope_type': 'default', 'rope_theta': 5e5})), rotated(attend.Rotary(8, 'halves', 5e5)))
listed = attend.Rotary(8, 'halves', frequencies=[1.0, 0.1, 0.0, 1e-3])
check(np.all(rotated(listed)[..., [2, 6]] == (np.arange(48, dtype=np.float32) - 20).reshape(2, 3, 8)[..., [2, 6]]), 'a pair without frequency')
plain, x = attend.Rotary(8, 'halves'), draw(2, 3, 8)
whole, apart, back = x.copy(), x.copy(), x.copy()
attend.rotate(whole, plain, -1)
attend.rotate(apart, plain, [-1, 0, 1])
same('a position of each token', apart, whole)
attend.rotate(back, plain, np.array([5, 7, -9]))
attend.rotate(back, plain, np.array([-5, -7, 9]))
check(np.abs(back - x).max() < 1e-6, 'turned back')
places = [[1, 2, 3], [40, 5, 6], [-7, 8, 9]]
for interleaved, of_pairs in ((False, [0, 0, 1, 2]), (True, [0, 1, 2, 0])):
    turned = x.copy()
    attend.rotate(turned, plain, places, axes=[2, 1, 1], interleaved=interleaved)
    for axis in range(3):
        one = x.copy()
        attend.rotate(one, plain, [place[axis] for place in places])
        mine = [i for i in range(8) if of_pairs[i % 4] == axis]
        same(f'axis {axis}', turned[..., mine], one[..., mine])
wide = draw(2, 3, 12)
alone = np.ascontiguousarray(wide[..., 4:])
attend.rotate(wide[..., 4:], plain, 5)
attend.rotate(alone, plain, 5)
same('a slice of heads', np.ascontiguousarray(wide[..., 4:]), alone)
for title, text, arguments in [
        ('axes and one position', '[tokens][axes]', {'position': 3, 'axes': [4]}), ('too few positions', '3 tokens', {'position': [1, 2]}),
        ('positions on too few axes', '2 axes', {'position': [[1]] * 3, 'axes': [2, 2]}),
        ('other pairs', 'rotary_dim / 2', {'position': [[1, 1]] * 3, 'axes': [2, 3]}),
        ('interleaved alone', 'no effect', {'position': [1, 2, 3], 'interleaved': True}),
        ('nine axes', '1 to 8 axes', {'position': [[0] * 9] * 3, 'axes': [4] + [0] * 8})]:
    refused(title, text, lambda: attend.rotate(x, plain, **arguments))
for title, text, wrong, *error in [
        ('no dict', 'must be a dict', {'scaling': 'llama3'}, TypeError),
        ('an unknown type', 'expected one of', {'scaling': {'rope_type': 'ntk'}}),
        ('a lack', "lacks 'factor'", {'scaling': {'rope_type': 'linear'}}),
        ('an unknown name', 'does not use', {'scaling': {'rope_type': 'linear', 'factor': 2.0, 'beta_fast': 3}}),
        ('long without positions', 'positions is missing', {'scaling': MODELS[6][2]}),
        ('positions without long', 'no effect', {'positions': 5}),
        ('too many', 'exclude each other', {'scaling': MODELS[4][2], 'frequencies': [1.0] * 48}),
        ('frequencies and a base', 'no effect', {'base': 1e4, 'frequencies': [1.0] * 48}),
        ('another count', 'there are 48 pairs', {'frequencies': [1.0]}),
        ('a frequency of 4', 'below 4 radians', {'frequencies': [1.0] * 47 + [4.0]}),
        ('a first frequency of 0', 'the first above 0', {'frequencies': [0.0] * 48}),
        ('a small factor', 'factor is 0.5; expected 1 to 65536', {'scaling': {'rope_type': 'linear', 'factor': 0.5}}),
        ('positions with llama3', 'no effect', {'scaling': MODELS[0][2], 'positions': 9}),
        ('a default with numbers', 'it takes nothing', {'scaling': {'type': 'default', 'mrope_section': [16, 24, 24]}}),
        ('no attention', 'attention_factor is 0', {'scaling': {**MODELS[1][2], 'attention_factor': 0}}),
        ('a word for truncate', 'expected truncate=True', {'scaling': {**MODELS[1][2], 'truncate': 'false'}}, TypeError),
        ('a list that is not used', 'long_factor has 1 numbers', {'scaling': {**MODELS[6][2], 'long_factor': [1.0]}, 'positions': 5}),
        ('one factor', 'expected 48 numbers', {'scaling': {**MODELS[6][2], 'short_factor': 2.0}, 'positions': 5}, TypeError),
        ('betas that are swapped', 'expected less than beta_fast', {'scaling': {**MODELS[1][2], 'beta_fast': 1.0, 'beta_slow': 32.0}}),
        ('a factor below 1 and a logarithm', 'factor is -1', {'scaling': {**MODELS[3][2], 'factor': -1}}),
        ('two types', 'expected one of', {'scaling': {'rope_type': ['yarn']}}, TypeError)]:
    refused(title, text, lambda: attend.Rotary(96, 'halves', **wrong), *error)
finish()
