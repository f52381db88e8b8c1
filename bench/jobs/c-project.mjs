import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findSystemProgram } from '../contestants/look-up.mjs'

const FILES = 30
const FUNCTIONS_PER_FILE = 4

/**
 * Thirty files that include the usual headers, built one after the other.
 * @param {string} folder
 */
export function createCProject(folder) {
  const make = findSystemProgram('make')
  if (make === undefined || findSystemProgram('gcc') === undefined) return 'gcc or make is not installed'
  const units = Array.from({ length: FILES }, (_, unit) => unit)
  for (const unit of units) writeFileSync(path.join(folder, `unit${unit}.c`), unitSource(unit))
  writeFileSync(path.join(folder, 'main.c'), mainSource(units))
  writeFileSync(
    path.join(folder, 'Makefile'),
    [
      'CC = gcc',
      'CFLAGS = -O1 -Wall',
      `OBJECTS = main.o ${units.map((unit) => `unit${unit}.o`).join(' ')}`,
      'program: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)',
    ].join('\n') + '\n',
  )
  return {
    title: `make, ${FILES + 1} C files with gcc`,
    job: { argv: /** @type {const} */ ([make, '-s']), cwd: folder },
    before: async () => removeProducts(folder),
  }
}

/** @param {string} folder */
function removeProducts(folder) {
  const products = readdirSync(folder).filter((name) => name.endsWith('.o') || name === 'program')
  for (const name of products) rmSync(path.join(folder, name))
}

/** @param {number} unit */
function unitSource(unit) {
  const functions = Array.from(
    { length: FUNCTIONS_PER_FILE },
    (_, index) => `
static int step${index}(int value) {
  char text[32];
  snprintf(text, sizeof text, "%d", value * ${index + 1});
  return (int)strlen(text) + atoi(text) % ${unit + 2};
}`,
  )
  const calls = functions.map((_, index) => `step${index}(value)`)
  return `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n${functions.join('\n')}
int unit${unit}(int value) {\n  return ${calls.join(' + ')};\n}\n`
}

/** @param {number[]} units */
function mainSource(units) {
  const declarations = units.map((unit) => `int unit${unit}(int value);`)
  return (
    `${declarations.join('\n')}\nint main(void) {\n  return ` +
    `(${units.map((unit) => `unit${unit}(1)`).join(' + ')}) == 0;\n}\n`
  )
}
