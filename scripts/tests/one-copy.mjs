// For processes of Vitest: packages that import `cordon/policy` get the same modules as the tests do
// (scripts/entries.mjs).
import { register } from 'node:module'

register(new URL('./one-copy-hooks.mjs', import.meta.url))
