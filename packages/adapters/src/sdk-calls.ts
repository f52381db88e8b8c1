// What all adapters share: a call as an SDK makes it, and the calls that wait for a person outside of memory.
import { isDeepStrictEqual } from 'node:util'

import { bug, CordonError } from 'cordon/errors'
import type { ApprovalAnswer } from 'cordon/gate'
import { toModel } from 'cordon'
import type { Cordon, ListedTool, PendingApproval, ResumeOptions, StreamOptions, StreamPart, ToolResult } from 'cordon'
import { withoutUndefined } from 'cordon/shapes'

import { fail } from './errors.js'

/** The parts of a runtime that adapters use. */
export interface SdkRuntime extends Pick<Cordon, 'listTools' | 'evaluate' | 'callFromModel' | 'resume'> {
  readonly callStream: (name: string, input?: unknown, options?: StreamOptions) => AsyncIterable<StreamPart>
}

export interface AdapterOptions {
  /** If somebody has to approve a call: `wait` for the answer (default), or `suspend` the call and end the run. */
  readonly onAsk?: 'wait' | 'suspend'
  /** Constraints and budgets count per session. */
  readonly session?: string
  /** Gets each result with its facts, which are for the operator: no model and no browser should see them. */
  readonly onResult?: (result: ToolResult, id: string) => void
}

/** A call that waits for a person. It is JSON: keep it beside the conversation until somebody has answered. */
export interface SuspendedCall {
  /** The id that the SDK gave the call. */
  readonly id: string
  /** The tool by its name for the model. */
  readonly tool: string
  readonly input: unknown
  readonly ticket: string
  readonly approval: PendingApproval
}

export interface SdkCall {
  readonly id: string
  /** The tool by its name for the model. */
  readonly tool: string
  /** A value, or the JSON text of one. */
  readonly input: unknown
  readonly signal?: AbortSignal | undefined
}

/** What every adapter offers beside the tools. */
export interface Suspending {
  /** The calls that this adapter has suspended, and that nobody has answered. */
  readonly suspended: () => readonly SuspendedCall[]
  /**
   * Takes a person's answer to a suspended call, of this process or another one. A denial is recorded at once. Any
   * other answer counts when the SDK makes the call again. With a registry people answer there, and `answer` is left
   * out.
   */
  readonly answer: (call: SuspendedCall, answer?: ApprovalAnswer) => Promise<void>
}

export interface SdkCalls extends Suspending {
  readonly tools: readonly ListedTool[]
  /** Suspends a call that somebody has to approve. Undefined for a call that may go on. */
  readonly suspend: (call: SdkCall) => Promise<SuspendedCall | undefined>
  /** Runs a call, or goes on with it if it was suspended. */
  readonly run: (call: SdkCall, listeners?: Omit<ResumeOptions, 'signal'>) => Promise<ToolResult>
  /** Goes on with a suspended call, if it is this call. `fix`: how to give the answer, for one without a call. */
  readonly goOn: (call: SdkCall, answered: Partial<AnsweredCall> | undefined, fix: string) => Promise<ToolResult>
  readonly stream: (call: SdkCall) => AsyncIterable<StreamPart>
  /** Runs a call, and tells what it prints and how far it is. */
  readonly runTelling: (call: SdkCall, tell: (part: RunningPart) => unknown) => Promise<ToolResult>
  /**
   * For SDKs that leave calls to the program: runs those of a conversation that have no result yet, or that somebody
   * has answered. Gives the text of each for the model. A suspended call has none.
   */
  readonly texts: (calls: readonly SdkCall[], hasResult: (id: string) => boolean) => Promise<readonly CallText[]>
}

/** A part of a stream before its result. */
export type RunningPart = Exclude<StreamPart, { readonly kind: 'result' }>

export interface CallText {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

export const createSdkCalls = (cordon: SdkRuntime, options: AdapterOptions): SdkCalls => {
  const { onAsk = 'wait', session, onResult = () => undefined } = options
  const waiting = new Map<string, SuspendedCall>()
  const answered = new Map<string, AnsweredCall>()
  // Results of calls that were about to be suspended, and ran because a rule changed in between.
  const early = new Map<string, { readonly call: SdkCall; readonly result: ToolResult }>()
  const tools = cordon.listTools()
  const nameOf = new Map(tools.map(({ modelName, name }) => [modelName, name]))
  const callOptions = { onAsk, ...withoutUndefined({ session }) }

  const keep = ({ id, tool, input }: SdkCall, result: ToolResult): ToolResult => {
    if (result.status === 'pending')
      waiting.set(id, { id, tool, input: valueOf(input), ticket: result.ticket, approval: result.approval })
    onResult(result, id)
    return result
  }
  const start = async ({ tool, input, signal }: SdkCall, listeners: ResumeOptions = {}): Promise<ToolResult> =>
    cordon.callFromModel(
      { name: tool, arguments: input },
      { ...callOptions, ...listeners, ...withoutUndefined({ signal }) },
    )
  const resume = async ({ call, answer }: AnsweredCall, listeners: ResumeOptions): Promise<ToolResult> => {
    answered.delete(call.id)
    waiting.delete(call.id)
    const expected = { tool: nameOf.get(call.tool) ?? call.tool, input: call.input }
    return keep(call, await cordon.resume(call.ticket, answer, { ...listeners, expected }))
  }
  const goOn = async (call: SdkCall, ready: AnsweredCall, listeners: ResumeOptions): Promise<ToolResult> => {
    requireSame(ready.call, call)
    return resume(ready, { ...listeners, ...withoutUndefined({ signal: call.signal }) })
  }

  const run: SdkCalls['run'] = async (call, listeners = {}) => {
    const ran = early.get(call.id)
    if (ran !== undefined) {
      early.delete(call.id)
      requireSame(ran.call, call)
      return ran.result
    }
    const ready = answered.get(call.id)
    // The SDK goes on because its conversation says that somebody approved. Only `answer` counts.
    if (ready === undefined && waiting.has(call.id)) throw refused('has no answer yet', 'call answer() first')
    if (ready === undefined) return keep(call, await start(call, listeners))
    return goOn(call, ready, listeners)
  }
  const textOf = async (call: SdkCall): Promise<readonly CallText[]> => {
    try {
      const result = await run(call)
      const { text, isError } = toModel(result)
      return result.status === 'pending' ? [] : [{ id: call.id, text, isError }]
    } catch (error) {
      // The other calls of the conversation may have run. Their results must not be lost.
      if (!(error instanceof CordonError)) throw error
      return [{ id: call.id, text: error.agentMessage, isError: true }]
    }
  }
  async function* stream(call: SdkCall): AsyncIterable<StreamPart> {
    if ([early, answered, waiting].some((each) => each.has(call.id))) {
      yield { kind: 'result', result: await toldToModel(run(call)) }
      return
    }
    const { signal, tool } = call
    const parts = cordon.callStream(nameOf.get(tool) ?? tool, valueOf(call.input), {
      ...callOptions,
      ...withoutUndefined({ signal }),
    })
    for await (const part of parts) {
      if (part.kind === 'result') keep(call, part.result)
      yield part
    }
  }
  return {
    tools,
    texts: async (calls, hasResult) => {
      const isOpen = ({ id }: SdkCall): boolean => answered.has(id) || !(hasResult(id) || waiting.has(id))
      return (await Promise.all(calls.filter(isOpen).map(textOf))).flat()
    },
    suspended: () => [...waiting.values()].filter(({ id }) => !answered.has(id)),
    answer: async (call, answer) => {
      if (answer?.kind === 'deny') await resume({ call, answer }, {})
      else answered.set(call.id, { call, answer })
    },
    suspend: async (call) => {
      if (onAsk !== 'suspend') return undefined
      const before = answered.get(call.id)?.call ?? waiting.get(call.id)
      if (before !== undefined) return before
      const name = nameOf.get(call.tool) ?? call.tool
      const { kind } = await cordon.evaluate(name, valueOf(call.input), withoutUndefined({ session }))
      if (kind !== 'asking') return undefined
      const result = keep(call, await toldToModel(start(call)))
      if (result.status !== 'pending') early.set(call.id, { call, result })
      return waiting.get(call.id)
    },
    run: (call, listeners) => toldToModel(run(call, listeners)),
    goOn: async (call, { call: suspended, answer } = {}, fix) => {
      if (suspended === undefined) throw refused('is missing', fix)
      return toldToModel(goOn(call, { call: suspended, answer }, {}))
    },
    stream,
    runTelling: async (call, tell) => {
      let result: ToolResult | undefined
      for await (const part of stream(call)) {
        if (part.kind === 'result') result = part.result
        else await tell(part)
      }
      return result ?? bug('a stream ended without a result')
    },
  }
}

/** A suspended call, and what a person said about it. */
export interface AnsweredCall {
  readonly call: SuspendedCall
  readonly answer: ApprovalAnswer | undefined
}

/** A person approved what was shown. A conversation that comes from elsewhere may say something else by now. */
const requireSame = (shown: Pick<SdkCall, 'id' | 'tool' | 'input'>, { id, tool, input }: SdkCall): void => {
  const isSame = shown.id === id && shown.tool === tool && isDeepStrictEqual(valueOf(shown.input), valueOf(input))
  if (!isSame) throw refused('is for another call')
}

const refused = (problem: string, fix = 'make the call again'): CordonError => fail('ticket-refused', { problem, fix })

/** The gate reads a text itself, and refuses one that is not JSON. */
const valueOf = (input: unknown): unknown => {
  if (typeof input !== 'string') return input
  try {
    return input === '' ? {} : (JSON.parse(input) as unknown)
  } catch {
    return input
  }
}

/** SDKs show the message of an error to the model. The operator finds the error of Cordon in `cause`. */
const toldToModel = async <Result>(result: Promise<Result>): Promise<Result> => {
  try {
    return await result
  } catch (error) {
    throw error instanceof CordonError ? new Error(error.agentMessage, { cause: error }) : error
  }
}
