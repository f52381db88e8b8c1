import { closeSync, readSync } from 'node:fs'

import { openFile } from './object-at.js'

/** What an ELF file needs before its first instruction runs. */
interface ElfNeeds {
  readonly interpreter: string | undefined
  readonly libraries: readonly string[]
  /** Folders to look in, `$ORIGIN` not yet replaced. */
  readonly searchPaths: readonly string[]
}

const PT_LOAD = 1
const PT_DYNAMIC = 2
const PT_INTERP = 3
const DT_NEEDED = 1n
const DT_STRTAB = 5n
const DT_RPATH = 15n
const DT_RUNPATH = 29n

interface Segment {
  readonly type: number
  readonly offset: number
  readonly address: bigint
  readonly size: number
}

/** Undefined unless the file is a well-formed 64-bit little-endian ELF file. */
export const readElfNeeds = (path: string): ElfNeeds | undefined => {
  const file = openFile(path)
  if (file === undefined) return undefined
  try {
    const header = readAt(file, 0, 64)
    if (header.length < 64 || header.toString('latin1', 0, 4) !== '\x7fELF' || header[4] !== 2 || header[5] !== 1)
      return undefined
    const segments = readSegments(file, header)
    const interpreter = segments.find(({ type }) => type === PT_INTERP)
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC)
    return {
      interpreter: interpreter && textAt(readAt(file, interpreter.offset, Math.min(interpreter.size, 4096)), 0),
      ...(dynamic === undefined ? { libraries: [], searchPaths: [] } : readDynamic(file, dynamic, segments)),
    }
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}

const readAt = (file: number, offset: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
}

const textAt = (bytes: Buffer, at: number): string => bytes.toString('utf8', at, Math.max(at, bytes.indexOf(0, at)))

const readSegments = (file: number, header: Buffer): readonly Segment[] => {
  const entrySize = header.readUInt16LE(54)
  const count = Math.min(header.readUInt16LE(56), 64)
  const table = readAt(file, Number(header.readBigUInt64LE(32)), entrySize * count)
  return Array.from({ length: count }, (_, index) => {
    const at = index * entrySize
    return {
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: table.readBigUInt64LE(at + 16),
      size: Number(table.readBigUInt64LE(at + 32)),
    }
  })
}

const readDynamic = (
  file: number,
  dynamic: Segment,
  segments: readonly Segment[],
): Pick<ElfNeeds, 'libraries' | 'searchPaths'> => {
  const table = readAt(file, dynamic.offset, Math.min(dynamic.size, 65_536))
  const entries: (readonly [bigint, bigint])[] = []
  for (let at = 0; at + 16 <= table.length; at += 16)
    entries.push([table.readBigUInt64LE(at), table.readBigUInt64LE(at + 8)])
  const stringsAt = entries.find(([tag]) => tag === DT_STRTAB)?.[1]
  const home = segments.find(
    ({ type, address, size }) =>
      type === PT_LOAD && stringsAt !== undefined && stringsAt >= address && stringsAt < address + BigInt(size),
  )
  if (stringsAt === undefined || home === undefined) return { libraries: [], searchPaths: [] }
  const strings = readAt(file, home.offset + Number(stringsAt - home.address), 1 << 20)
  const texts = (wanted: readonly bigint[]) =>
    entries.filter(([tag]) => wanted.includes(tag)).map(([, value]) => textAt(strings, Number(value)))
  return {
    libraries: texts([DT_NEEDED]),
    searchPaths: texts([DT_RPATH, DT_RUNPATH]).flatMap((list) => list.split(':')),
  }
}
