/** A late answer is not lost: the next reader of `happening` gets it. */
export const inTime = async <T>(time: number, happening: Promise<T>): Promise<T | 'late'> => {
  if (time === Infinity) return happening
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, time, 'late')
  })
  return Promise.race([happening, late]).finally(() => {
    clearTimeout(timer)
  })
}
