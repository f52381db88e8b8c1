// Adapters keep the names of the tools in their types, so that programs see which tools there are.
import { expect, expectTypeOf, test } from 'vitest'

import { aiTools } from '@cordon/adapters/ai'
import { mastraTools } from '@cordon/adapters/mastra'
import type { ModelNameOf } from '../../src/model-name.js'
import type { Cordon, ToolDefinition } from 'cordon'
import { createCordon, tool } from 'cordon'
import { openStage } from '../../../core/test/runtime/stage.js'

const stage = openStage()
type NameOf<Name extends string> = ModelNameOf<Cordon<readonly [ToolDefinition<Name>]>>

test('the tools of a runtime are those of its adapter', async () => {
  const add = tool({ name: 'add', policy: {}, run: () => 1 })
  const remove = tool({ name: 'remove_all', policy: {}, run: () => 2 })
  const cordon = await createCordon({ workspace: stage.newFolder(), ruleFiles: 'none', tools: [add, remove] })
  const { tools, toolApproval } = aiTools(cordon)
  for (const map of [tools, toolApproval]) {
    expectTypeOf<keyof typeof map>().toEqualTypeOf<'add' | 'remove_all'>()
    expect(Object.keys(map)).toEqual(['add', 'remove_all'])
  }
  expectTypeOf(mastraTools(cordon)).toHaveProperty('add')
  expectTypeOf(mastraTools(cordon)).not.toHaveProperty('nothing')
  await cordon.close()
})

test('a name that the compiler does not know, or that models do not take, is any text', () => {
  expectTypeOf<keyof ReturnType<typeof aiTools<Cordon>>['tools']>().toEqualTypeOf<string>()
  expectTypeOf<NameOf<'files.read'>>().toEqualTypeOf<string>()
  expectTypeOf<NameOf<'Files-read_1'>>().toEqualTypeOf<'Files-read_1'>()
})
