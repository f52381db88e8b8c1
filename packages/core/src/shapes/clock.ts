/** Milliseconds of a clock that is never set. `performance.now()` loads a module that takes 3 ms of every start. */
export const monotonicMs = (): number => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
