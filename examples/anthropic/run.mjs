import { checkAgent } from '../notes/check.mjs'

for (const name of ['agent', 'runner']) {
  console.log(`${name}.mjs`)
  checkAgent(new URL(`./${name}.mjs`, import.meta.url))
}
