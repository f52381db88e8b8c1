import { jsonLine } from 'cordon/commands'
import { plainSentence } from '../report/sentence-text.js'

import type { Inspection } from './inspection.js'
import { cutSentence, exfiltrationSentence } from '../flow/exfiltration-text.js'

export const json = ({ hash, rows, dynamic, exfiltrations, unused }: Inspection): string =>
  jsonLine({
    hash,
    tools: rows.map((row) => ({ ...row, server: row.server ?? null })),
    dynamic,
    findings: exfiltrations.map((each) => ({
      id: 'flow.exfiltration',
      severity: 'error',
      agent: each.agent,
      source: each.source ?? null,
      tools: each.path.parts.map(({ agent, is, name }) => ({ agent, is, name })),
      sentence: plainSentence(exfiltrationSentence(each)),
      cut: plainSentence(cutSentence(each.cut, each.agent)),
    })),
    unused: unused.map(({ agent, tool, section, entry }) => ({ agent, tool, section, entry })),
  })
