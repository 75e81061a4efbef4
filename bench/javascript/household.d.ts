// The model of household commands.
import type { Attend } from './index.js';

export interface Answer {
  /** Such as 'light.dim room=bedroom level=30', or 'unknown'. */
  action: string;
  pieces: string[];
  /** wordOf: of each token, its place in words. */
  sentence: { tokens: number[]; wordOf: number[]; words: string[] };
  /** That the model took. */
  tokens: number;
}

export class Household {
  static load(attend: Attend, bytes?: BufferSource | ArrayLike<number> | Promise<ArrayBuffer>): Promise<Household>;
  answer(text: string, watching?: {
    /** What each head looked at, [head][token]. */
    watch?(position: number, layer: number, weights: Float32Array): void;
    /** The scores of which a piece is chosen: a view, until the next call. */
    choose?(position: number, logits: Float32Array): void;
  }): Answer;
  /** Of all scores after each token of the sentence. */
  digest(text: string): string;
}
