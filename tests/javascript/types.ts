// What must compile, and what must not.
import { AttendError, load } from 'attend';
import { Household } from 'attend/household';

const attend = await load();
const q = new Float32Array(64);
const plain: Float32Array = attend.attention(q, q, q, { heads: 2, headDim: 16, causal: true });
const { output, lse } = attend.attention(q, q, q, { headDim: 16, lse: true });
const cache = new attend.Cache({ kvHeads: 2, headDim: 16, maxTokens: 8, format: ['int8', 'float16'] });
attend.attention(q, cache, null, { heads: 2 });
new attend.Cache({ headDim: 16, valueDim: 8, maxTokens: 8, format: ['float16', 'inKeys'] }).append(q);
const radians: number[] = new attend.Rotary({ dim: 16, scaling: { rope_type: 'linear', factor: 4 } }).radians;
const household = await Household.load(attend);
const action: string = household.answer('lock the door').action;
// @ts-expect-error: there is no such option
attend.attention(q, q, q, { headDim: 16, casual: true });
// @ts-expect-error: keys cannot be in keys
new attend.Cache({ headDim: 16, maxTokens: 8, format: 'inKeys' });
// @ts-expect-error: a number
new attend.Cache({ kvHeads: 'two', headDim: 16, maxTokens: 8 });
export { AttendError, action, lse, output, plain, radians };
