import { basename } from 'node:path'

import type { SourceFile } from './source-tree.js'

const MAX_LINES = 400
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)+$/
const VAGUE = /(^|[/-])(utils?|common|helpers?|misc|manager)([/.-]|$)/

export const fileViolations = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1
    return [
      ...(/\.[ch]$/.test(path) || KEBAB_CASE.test(basename(path)) ? [] : [`${path}: file names are kebab-case`]),
      ...(VAGUE.test(path) ? [`${path}: the name says nothing about what is inside`] : []),
      ...(lines > MAX_LINES ? [`${path}: ${lines} lines, more than ${MAX_LINES}`] : []),
    ]
  })
