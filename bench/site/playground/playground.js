// The playground of the first page: loads the library and the model after the text, then fills the three panes.
import { load } from './attend/index.js';
import { Household } from './attend/household.js';
import * as native from './native.js';
import { commandPane } from './command_pane.js';
import { machinesPane } from './machines_pane.js';
import { textbookPane } from './textbook_pane.js';

const state = document.getElementById('playground-state');

async function start() {
  const place = (name) => fetch(new URL(name, import.meta.url));
  const begun = performance.now();
  const attend = await load(place('attend-small.wasm'));
  textbookPane(attend, native.textbook);
  machinesPane(attend, native.long);
  const model = await place('household.bin');
  commandPane(await Household.load(attend, model.arrayBuffer()), native);
  state.textContent = `Attend ${attend.version} and the model were loaded in ${Math.round(performance.now() - begun)} ms; all that follows is computed in this page.`;
  document.getElementById('playground').dataset.ready = 'yes';
}

start().catch((error) => {
  state.textContent = `The library could not be loaded: ${error.message}`;
});
