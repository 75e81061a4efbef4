// Answers household commands: node household.mjs [SENTENCE], or what is typed.
import { createInterface } from 'node:readline/promises';
import { load } from 'attend';
import { Household } from 'attend/household';

const household = await Household.load(await load());

function answer(sentence) {
  try {
    console.log(household.answer(sentence).action);
  } catch (error) {
    console.error(error.message);
  }
}

if (process.argv.length > 2) {
  answer(process.argv.slice(2).join(' '));
} else {
  for await (const line of createInterface({ input: process.stdin })) answer(line);
}
