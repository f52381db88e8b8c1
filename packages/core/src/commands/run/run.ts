// `cordon run`: runs one command in a cell, and reports on stderr.
import type { CommandLine } from '../../line/caller.js'
import { writeText } from '../../line/text/console-text.js'
import { openFactsFile } from '../../run/facts.js'
import { reportRun } from '../../run/report-run.js'
import { ownSeat } from '../../run/run-seat.js'
import { runTyped } from '../../run/typed-run.js'

export const run = async (line: CommandLine): Promise<number> => {
  const file = line.given.values.get('facts')?.[0]
  const factsFile = file === undefined ? undefined : openFactsFile(file)
  const report = reportRun(line, writeText)
  const ran = await runTyped(line, ownSeat(), report.say)
  factsFile?.write(ran.facts)
  await report.end(ran)
  if (line.isFronted) await (await import('../../host/start-host.js')).startHost(line.environment)
  return ran.exitStatus
}
