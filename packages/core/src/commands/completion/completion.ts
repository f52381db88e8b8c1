// `cordon completion`: the table of the commands as a script for a shell.
import { usage } from '../../line/arguments.js'
import type { CommandLine } from '../../line/command-line.js'
import { STDOUT, writeText } from '../../line/text/console-text.js'
import { installedProductNames, loadProductIfAny } from '../../products/installed-products.js'
import type { ListedCommand, Product } from '../../products/product.js'

import { SHELLS } from './shell-scripts.js'

type ListCommands = (products: readonly Product[]) => readonly ListedCommand[]

export const completionOf =
  (listCommands: ListCommands) =>
  async ({ given }: CommandLine): Promise<number> => {
    const [shell = '', ...more] = given.rest
    const script = SHELLS.get(shell)
    if (script === undefined || more.length > 0)
      throw usage(`name one shell: ${[...SHELLS.keys()].join(', ')}`, 'cordon completion')
    const products = await Promise.all(installedProductNames().map(async (name) => loadProductIfAny(name)))
    writeText(STDOUT, script(listCommands(products.flatMap((product) => product ?? []))))
    return 0
  }
