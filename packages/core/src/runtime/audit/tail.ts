import { readSync } from 'node:fs'

import { readLine } from './chain.js'
import type { ChainEnd } from './chain.js'

const LINE_FEED = 0x0a

/** The whole lines that continue the chain: how many lines and bytes, and where the chain then ends. */
export const walkTail = (
  tail: Buffer,
  from: ChainEnd,
): { readonly end: ChainEnd; readonly lines: number; readonly bytes: number } => {
  let end = from
  let lines = 0
  let at = 0
  for (;;) {
    const feed = tail.indexOf(LINE_FEED, at)
    if (feed === -1) break
    const read = readLine(tail.toString('utf8', at, feed))
    if (
      read.kind === 'unreadable' ||
      !read.isIntact ||
      read.line.previous !== end.hash ||
      read.line.sequence !== end.sequence + 1
    )
      break
    end = { sequence: read.line.sequence, hash: read.line.hash }
    lines += 1
    at = feed + 1
  }
  return { end, lines, bytes: at }
}

export const readRange = (descriptor: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from)
  let at = 0
  while (at < bytes.length) {
    const read = readSync(descriptor, bytes, at, bytes.length - at, from + at)
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}
