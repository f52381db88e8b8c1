/** One line on stderr that replaces itself; nothing where stderr is not a terminal. */
export function createProgress() {
  const live = process.stderr.isTTY
  return {
    /** @param {string} title */
    of: (title) => (/** @type {number} */ done, /** @type {number} */ total) => {
      if (live) process.stderr.write(`\r\x1b[K${title} ${Math.round((done / total) * 100)}%`)
    },
    end: () => {
      if (live) process.stderr.write('\r\x1b[K')
    },
  }
}
