/** Mid-tones that keep their contrast on a white and on a black page; the background stays clear. */
export const COLOURS = { text: '#7a828c', grid: '#8b949e', baseline: '#8b949e', peer: '#b0895a', cordon: '#2f81f7' }

/**
 * @param {string} text
 * @param {{ x: number, y: number, anchor?: 'start' | 'middle' | 'end', size?: number, weight?: 'bold' | 'normal' }} at
 */
export function label(text, { x, y, anchor = 'start', size = 12, weight = 'normal' }) {
  return (
    `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" ` +
    `fill="${COLOURS.text}">${escape(text)}</text>`
  )
}

/** @param {{ x: number, y: number, width: number, height: number, colour: string }} box */
export function bar({ x, y, width, height, colour }) {
  return (
    `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0.5, width))}" height="${height}" ` +
    `fill="${colour}"/>`
  )
}

/**
 * @param {{ x1: number, y1: number, x2: number, y2: number, colour?: string, width?: number, dash?: string }} stroke
 */
export function line({ x1, y1, x2, y2, colour = COLOURS.grid, width = 1, dash }) {
  const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash}"`
  return (
    `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${colour}" ` +
    `stroke-width="${width}"${dashes}/>`
  )
}

/** @param {{ x: number, y: number, radius: number, colour: string }} dot */
export function dot({ x, y, radius, colour }) {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${radius}" fill="${colour}"/>`
}

/**
 * @param {number} width
 * @param {number} height
 * @param {string} title
 * @param {string[]} shapes
 */
export function page(width, height, title, shapes) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" ` +
      `height="${height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${escape(title)}</title>`,
    ...shapes,
    '</svg>',
    '',
  ].join('\n')
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10
}
