import type { Area } from './claim.js'
import type { Findings } from './describe-conformance.js'

export interface Column {
  readonly name: string
  readonly findings: Findings
}

/** Claims that nothing is known about. */
export const untriedIn = ({ findings }: Column, areas: readonly Area[]): readonly string[] =>
  areas.flatMap(({ claims }) => claims.map(({ claim }) => claim)).filter((claim) => !findings.has(claim))

/** The capability table: a row per claim, a column per backend, and the reasons of what does not hold. */
export const renderCapabilities = (areas: readonly Area[], columns: readonly Column[]): string => {
  const reasons = [
    ...new Set(
      columns.flatMap(({ findings }) =>
        [...findings.values()].flatMap((finding) => (finding.kind === 'gap' ? [finding.reason] : [])),
      ),
    ),
  ]
  const cell = (claim: string, { findings }: Column): string => {
    const finding = findings.get(claim)
    if (finding === undefined) return 'not tried'
    return finding.kind === 'held' ? 'yes' : `no [${String(reasons.indexOf(finding.reason) + 1)}]`
  }
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
  return [
    '# Capabilities',
    '',
    'What holds on which backend, as found by running every claim of `test/conformance` against it. A claim ' +
      'that does not',
    'hold is tried too, and must fail. Written by `npx vitest run test/conformance -u`.',
    '',
    ...areas.flatMap(({ title, claims }) => [
      `## ${title}`,
      '',
      row(['claim', ...columns.map(({ name }) => name)]),
      row(['---', ...columns.map(() => '---')]),
      ...claims.map(({ claim }) => row([claim, ...columns.map((column) => cell(claim, column))])),
      '',
    ]),
    '## Why not',
    '',
    ...reasons.map((reason, index) => `${String(index + 1)}. ${reason[0]?.toUpperCase() ?? ''}${reason.slice(1)}.`),
    '',
  ].join('\n')
}
