// The forms of a verification. Each quotes the texts of a project in its own way.
import { annotations } from './annotations.js'
import { jsonReport } from './json-report.js'
import { markdown } from './markdown.js'
import type { Report } from './report-content.js'
import { sarif } from './sarif.js'
import { textReport } from './text-report.js'

export const REPORTS = {
  text: textReport,
  markdown,
  json: jsonReport,
  sarif,
  github: annotations,
} as const satisfies Readonly<Record<string, (report: Report) => string>>

export type ReportForm = keyof typeof REPORTS
