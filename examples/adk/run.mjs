import { checkAgent } from '../notes/check.mjs'

checkAgent(new URL('./agent.mjs', import.meta.url))
