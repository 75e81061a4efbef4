// Sentences as tokens of the model of household commands, as bench/app/words.cpp of the project makes them.

export const otherCharacter = 0, beginSentence = 1, endAction = 2, beginAction = 3, letterCount = 26;
export const longestSentence = 400, longestTokens = 100, longestAction = 16;
const longestSpelling = 6;

const isLetter = (character) => character >= 'a' && character <= 'z';
const isSymbol = (character) => /^[0-9:%]$/.test(character);

function refuse(expected, found) {
  throw new RangeError(`the sentence: expected ${expected}, found ${found}`);
}

// Words, and symbols and other characters one by one. Digits that touch are one word to whoever reads them.
function split(text) {
  const plain = text.replace(/['\u2019]/g, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return [...plain.matchAll(/[a-z]+|[0-9:%]|[^\0-\x7f]/gu)].map(({ 0: word, index }) => ({
    word, joins: isSymbol(word) && index > 0 && isSymbol(plain[index - 1]),
  }));
}

// { tokens, wordOf, words }: wordOf has, for each token, its place in words, of which the first and the last are marks.
export function encode(text, pieces, firstLetter) {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > longestSentence) refuse(`at most ${longestSentence} bytes`, bytes);
  const sentence = { tokens: [beginSentence], wordOf: [0], words: [pieces[beginSentence]] };
  const known = new Map(pieces.slice(firstLetter + letterCount).map((piece, i) => [piece, firstLetter + letterCount + i]));
  for (const { word, joins } of split(text)) {
    if (joins) sentence.words[sentence.words.length - 1] += word;
    else sentence.words.push(word);
    for (const token of tokensOf(word, known, pieces, firstLetter)) {
      sentence.tokens.push(token);
      sentence.wordOf.push(sentence.words.length - 1);
    }
  }
  if (sentence.words.length === 1) refuse('at least one word', 'none');
  sentence.tokens.push(beginAction);
  sentence.wordOf.push(sentence.words.length);
  sentence.words.push(pieces[beginAction]);
  if (sentence.tokens.length > longestTokens) refuse(`at most ${longestTokens} tokens`, sentence.tokens.length);
  return sentence;
}

// One token of a word that is known, the first letters of another one.
function tokensOf(word, known, pieces, firstLetter) {
  if (known.has(word)) return [known.get(word)];
  if (isLetter(word[0])) return [...word.slice(0, longestSpelling)].map((letter) => firstLetter + letter.charCodeAt(0) - 97);
  const symbol = pieces.indexOf(word);
  return [symbol >= 0 && symbol < firstLetter ? symbol : otherCharacter];
}
