// The smallest plan, and variations of it.
import { ALL_FRAMES } from '../../src/sandbox/plan/plan.js'
import type { Plan } from '../../src/sandbox/plan/plan.js'
import { path } from '../policy/places.js'

export const planWith = (changes: Partial<Plan> = {}): Plan => ({
  form: 'namespaces',
  steps: [],
  rules: [],
  kept: { roots: [], sealed: [], hidden: [] },
  exec: { kind: 'all' },
  cwd: path('/srv'),
  temporary: path('/tmp'),
  cgroup: undefined,
  network: 'none',
  limits: {},
  traps: [],
  stdio: ALL_FRAMES,
  foreground: false,
  clock: 'start',
  delivery: 'gathered',
  probe: false,
  ...changes,
})
