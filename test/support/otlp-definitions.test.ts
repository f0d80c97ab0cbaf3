import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otlpMessage } from './otlp-definitions.ts';

/*
 * Proves the definitions against OpenTelemetry's own. Its package @opentelemetry/otlp-transformer 0.213.0 encoded each message below,
 * once, with its generated code.
 */

function decode(name: string, base64: string): object {
  const type = otlpMessage(name);
  return type.toObject(type.decode(Buffer.from(base64, 'base64')), { longs: String, bytes: String });
}

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'edge' } }], droppedAttributesCount: 1 };
const scope = {
  name: 'scope',
  version: '1.2',
  attributes: [{ key: 'a', value: { boolValue: false } }],
  droppedAttributesCount: 2,
};
const times = { startTimeUnixNano: '1795274527464123000', timeUnixNano: '1795274527470500000' };
const attributes = [{ key: 'route', value: { stringValue: 'r' } }];

test('decodes spans that OpenTelemetry encoded', () => {
  assert.deepEqual(
    decode(
      'ExportTraceServiceRequest',
      'CukCChoKFgoMc2VydmljZS5uYW1lEgYKBGVkZ2UQARLGAgoXCgVzY29wZRIDMS4yGgcKAWESAhAAIAISpgIKEAr3ZRkWzUPdhEjrIRyAMZwSCL' +
        'eta3FpIDMxGgNhPTEiCADwZ6oLqQK3KgRrb25nMAI5eGrOw6sY6hhBoLgvxKsY6hhKEAoEdGV4dBIICgbDqfCfmIBKFAoFd2hvbGUSCxj5////' +
        '//////8BSgoKBGZsYWcSAhABShUKCGZyYWN0aW9uEgkhAAAAAAAA0D9KEwoEbGlzdBILKgkKAwoBYQoCCgBKEwoDbWFwEgwyCgoICgFrEgMKAX' +
        'ZKCwoDcmF3EgQ6AgD/UANaFwl4as7DqxjqGBIBZRoHCgF4EgIYASAEYAVqKAoQCvdlGRbNQ92ESOshHIAxnBIIt61rcWkgMzEaA2I9MigGNQEA' +
        'AABwB3oOEgpzdGF0dXMgNTAyGAKFAQEBAAAaAnMyGgJzMQ==',
    ),
    {
      resourceSpans: [
        {
          resource,
          scopeSpans: [
            {
              scope,
              spans: [
                {
                  traceId: 'CvdlGRbNQ92ESOshHIAxnA==',
                  spanId: 't61rcWkgMzE=',
                  traceState: 'a=1',
                  parentSpanId: 'APBnqgupArc=',
                  name: 'kong',
                  kind: 2,
                  startTimeUnixNano: '1795274527464123000',
                  endTimeUnixNano: '1795274527470500000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'é😀' } },
                    { key: 'whole', value: { intValue: '-7' } },
                    { key: 'flag', value: { boolValue: true } },
                    { key: 'fraction', value: { doubleValue: 0.25 } },
                    { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: '' }] } } },
                    { key: 'map', value: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } } },
                    { key: 'raw', value: { bytesValue: 'AP8=' } },
                  ],
                  droppedAttributesCount: 3,
                  events: [
                    {
                      timeUnixNano: '1795274527464123000',
                      name: 'e',
                      attributes: [{ key: 'x', value: { intValue: '1' } }],
                      droppedAttributesCount: 4,
                    },
                  ],
                  droppedEventsCount: 5,
                  links: [
                    {
                      traceId: 'CvdlGRbNQ92ESOshHIAxnA==',
                      spanId: 't61rcWkgMzE=',
                      traceState: 'b=2',
                      droppedAttributesCount: 6,
                      flags: 1,
                    },
                  ],
                  droppedLinksCount: 7,
                  status: { message: 'status 502', code: 2 },
                  flags: 257,
                },
              ],
              schemaUrl: 's2',
            },
          ],
          schemaUrl: 's1',
        },
      ],
    },
  );
});

test('decodes log records that OpenTelemetry encoded', () => {
  assert.deepEqual(
    decode(
      'ExportLogsServiceRequest',
      'CpMBChoKFgoMc2VydmljZS5uYW1lEgYKBGVkZ2UQARJxChcKBXNjb3BlEgMxLjIaBwoBYRICEAAgAhJSCXhqzsOrGOoYEBEaBUVSUk9SKgQKAn' +
        't9MgwKBXJvdXRlEgMKAXI4A0UBAAAAShAK92UZFs1D3YRI6yEcgDGcUgi3rWtxaSAzMVmguC/EqxjqGBoCczIaAnMx',
    ),
    {
      resourceLogs: [
        {
          resource,
          scopeLogs: [
            {
              scope,
              logRecords: [
                {
                  timeUnixNano: '1795274527464123000',
                  severityNumber: 17,
                  severityText: 'ERROR',
                  body: { stringValue: '{}' },
                  attributes,
                  droppedAttributesCount: 3,
                  flags: 1,
                  traceId: 'CvdlGRbNQ92ESOshHIAxnA==',
                  spanId: 't61rcWkgMzE=',
                  observedTimeUnixNano: '1795274527470500000',
                },
              ],
              schemaUrl: 's2',
            },
          ],
          schemaUrl: 's1',
        },
      ],
    },
  );
});

test('decodes metrics that OpenTelemetry encoded', () => {
  assert.deepEqual(
    decode(
      'ExportMetricsServiceRequest',
      'CvgCChoKFgoMc2VydmljZS5uYW1lEgYKBGVkZ2UQARLVAgoXCgVzY29wZRIDMS4yGgcKAWESAhAAIAISagoBZxIFZ2F1Z2UaAkJ5KloKKxF4as' +
        '7DqxjqGBmguC/EqxjqGCEAAAAAAAD4vzoMCgVyb3V0ZRIDCgFyQAEKKxF4as7DqxjqGBmguC/EqxjqGDH////////f/zoMCgVyb3V0ZRIDCgFy' +
        'QAESPgoBcxIDc3VtGgExOjEKKxF4as7DqxjqGBmguC/EqxjqGCEAAAAAAAAIQDoMCgVyb3V0ZRIDCgFyQAEQAhgBEokBCgFoEgloaXN0b2dyYW' +
        '0aAXNKdgpyEXhqzsOrGOoYGaC4L8SrGOoYIQYAAAAAAAAAKQAAAAAAAARAMhgBAAAAAAAAAAIAAAAAAAAAAwAAAAAAAAA6EJqZmZmZmbk/AAAA' +
        'AAAA8D9KDAoFcm91dGUSAwoBclABWXsUrkfheoQ/YQAAAAAAAPg/EAEaAnMyGgJzMQ==',
    ),
    {
      resourceMetrics: [
        {
          resource,
          scopeMetrics: [
            {
              scope,
              metrics: [
                {
                  name: 'g',
                  description: 'gauge',
                  unit: 'By',
                  gauge: {
                    dataPoints: [
                      { ...times, asDouble: -1.5, attributes, flags: 1 },
                      { ...times, asInt: '-9007199254740993', attributes, flags: 1 },
                    ],
                  },
                },
                {
                  name: 's',
                  description: 'sum',
                  unit: '1',
                  sum: {
                    dataPoints: [{ ...times, asDouble: 3, attributes, flags: 1 }],
                    aggregationTemporality: 2,
                    isMonotonic: true,
                  },
                },
                {
                  name: 'h',
                  description: 'histogram',
                  unit: 's',
                  histogram: {
                    dataPoints: [
                      {
                        ...times,
                        count: '6',
                        sum: 2.5,
                        bucketCounts: ['1', '2', '3'],
                        explicitBounds: [0.1, 1],
                        attributes,
                        flags: 1,
                        min: 0.01,
                        max: 1.5,
                      },
                    ],
                    aggregationTemporality: 1,
                  },
                },
              ],
              schemaUrl: 's2',
            },
          ],
          schemaUrl: 's1',
        },
      ],
    },
  );
});

test('decodes the answer of a receiver that OpenTelemetry encoded', () => {
  assert.deepEqual(decode('ExportMetricsServiceResponse', 'CgYIAxICbm8='), {
    partialSuccess: { rejectedDataPoints: '3', errorMessage: 'no' },
  });
});
