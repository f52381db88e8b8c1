// A gate and its record without the rest of the runtime: for `cordon run` and `cordon hook`.
export { openGate, openRecord } from './open-gate.js'
