// A model of the AI SDK (version 2 of its interface) that wants one call after the other, and then ends.
const textOf = ({ type, value }) => (type.endsWith('text') ? value : JSON.stringify(value))

export const scriptedModel = (wanted) => {
  let heard = []
  const doGenerate = async ({ prompt }) => {
    heard = prompt.flatMap(({ role, content }) => (role === 'tool' ? content.map(({ output }) => textOf(output)) : []))
    const next = wanted[heard.length]
    const call = next && { toolCallId: `call-${heard.length}`, toolName: next.name, input: JSON.stringify(next.input) }
    return {
      content: [call ? { type: 'tool-call', ...call } : { type: 'text', text: 'done' }],
      finishReason: call ? 'tool-calls' : 'stop',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      warnings: [],
    }
  }
  const doStream = async (asked) => {
    const { content, finishReason, usage } = await doGenerate(asked)
    const parts = content.flatMap(({ type, text, ...call }) =>
      type === 'tool-call'
        ? [{ type, ...call }]
        : ['text-start', 'text-delta', 'text-end'].map((each) => ({ type: each, id: 'text', delta: text })),
    )
    const stream = ReadableStream.from([
      { type: 'stream-start', warnings: [] },
      ...parts,
      { type: 'finish', finishReason, usage },
    ])
    return { stream }
  }
  const names = { specificationVersion: 'v2', provider: 'scripted', modelId: 'scripted', supportedUrls: {} }
  return { model: { ...names, doGenerate, doStream }, heard: () => heard }
}
