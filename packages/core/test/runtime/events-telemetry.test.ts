// Uses the real SDK, which collects in memory.
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { connectTelemetry } from '../../src/runtime/events/telemetry.js'
import { createEventStream } from '../../src/runtime/index.js'
import type { EventStream } from '../../src/runtime/index.js'

import { DRAFTS } from './events-drafts.js'

const spans = new InMemorySpanExporter()
const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 3_600_000 })
const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
const meters = new MeterProvider({ readers: [reader] })

const newStream = (): EventStream => createEventStream({ sessionId: 'session', now: Date.now, newId: () => 'id' })

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(tracers)
  metrics.setGlobalMeterProvider(meters)
})

afterAll(async () => {
  await meters.shutdown()
  await tracers.shutdown()
  // Files of tests share a process, which has one of each.
  for (const api of [trace, metrics, context]) api.disable()
})

describe('telemetry', () => {
  it('makes one span for each call, with the ids of call and decision, beneath the span of the caller', async () => {
    const stream = newStream()
    const telemetry = await connectTelemetry(stream)
    const caller = trace.getTracer('test').startSpan('agent')
    context.with(trace.setSpan(context.active(), caller), () => {
      telemetry?.begin('call-1')
    })
    for (const draft of DRAFTS) await stream.emit(draft)
    telemetry?.stop()
    const finished = spans.getFinishedSpans()
    const [first, second] = finished.filter(({ name }) => name === 'cordon.call bash')
    expect(first?.attributes).toMatchObject({
      'cordon.call_id': 'call-1',
      'cordon.decision_id': 'decision-1',
      'cordon.session_id': 'session',
      'cordon.decision': 'sandboxed',
      'cordon.decision_source': 'mode',
      'cordon.status': 'violated',
    })
    expect(first?.parentSpanContext?.spanId).toBe(caller.spanContext().spanId)
    expect(first?.status).toMatchObject({ code: 2, message: 'it touched a boundary' })
    expect(first?.events.map(({ name, attributes }) => [name, attributes?.['cordon.violation']])).toEqual([
      ...['connect', 'memory', 'lookup', 'connect', 'egress'].map((kind) => ['sandbox.violation', kind]),
      ['egress.summed', undefined],
    ])
    expect(second?.attributes).toMatchObject({
      'cordon.call_id': 'call-2',
      'cordon.status': 'denied',
      'cordon.error_code': 'rule-denied',
    })
    const inner = finished.filter(({ parentSpanContext }) => parentSpanContext?.spanId === first?.spanContext().spanId)
    const connection = inner.find(({ name }) => name === 'cordon.connection')
    expect(connection?.attributes).toMatchObject({
      'server.address': 'example.org',
      'server.port': 443,
      'cordon.decision_id': 'decision-1',
    })
    expect(connection?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'egress.request',
        {
          'http.request.method': 'GET',
          'url.path': '/v1',
          'http.response.status_code': 200,
          'cordon.rule': 'example.org',
          'cordon.credentials': ['token'],
        },
      ],
    ])
    expect(inner.map(({ name }) => name).toSorted()).toEqual([
      'cordon.approval',
      'cordon.connection',
      'cordon.hook broken',
      'cordon.hook guard',
      'cordon.process',
    ])
  })

  it('counts calls, decisions and violations, without ids', async () => {
    await reader.forceFlush()
    const found = new Map(
      figures
        .getMetrics()
        .flatMap(({ scopeMetrics }) =>
          scopeMetrics.flatMap((scope) =>
            scope.metrics.map(
              (metric) => [metric.descriptor.name, metric.dataPoints.map(({ attributes }) => attributes)] as const,
            ),
          ),
        ),
    )
    expect(found.get('cordon.calls')).toEqual([
      { 'cordon.tool': 'bash', 'cordon.status': 'violated' },
      { 'cordon.tool': 'bash', 'cordon.status': 'denied' },
    ])
    expect(found.get('cordon.decisions')).toEqual([
      { 'cordon.tool': 'bash', 'cordon.decision': 'sandboxed', 'cordon.decision_source': 'mode' },
    ])
    expect(found.get('cordon.violations')).toHaveLength(4)
    expect([...found.keys()].toSorted()).toEqual([
      'cordon.approval.duration',
      'cordon.call.duration',
      'cordon.calls',
      'cordon.decisions',
      'cordon.egress.requests',
      'cordon.hooks.failed',
      'cordon.violations',
    ])
  })

  it('does nothing if the package is not installed', async () => {
    const telemetry = await connectTelemetry(newStream(), {
      load: () => Promise.reject(Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })),
    })
    expect(telemetry).toBeUndefined()
  })
})
