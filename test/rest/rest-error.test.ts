import { GraphQLError } from 'graphql';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { CodedError, ERROR_STATUS, type ErrorCode } from '../../src/core/errors.ts';
import { restErrorOf, restErrorOfThrown } from '../../src/rest/runtime/rest-error.ts';
import { wirePath } from '../../src/rest/wire/names.ts';
import { time, wireTime } from '../../src/rest/wire/values.ts';

const coded = (code: string, details?: object) =>
  new GraphQLError('words', { extensions: { code, ...(details && { details }) } });
const log = pino({ level: 'silent' });

describe('the names of fields in errors', () => {
  it.each([
    ['firstName', 'firstname'],
    ['lastName', 'lastname'],
    ['sourceId', 'source_id'],
    ['assigneeId', 'assigned_id'],
    ['groupIds', 'groups'],
    ['countryId', 'country_id'],
    ['text', 'message'],
    ['to', 'phone'],
    ['contact.firstName', 'contact.firstname'],
    ['contactIds', 'contact_ids'],
    ['filter.statusId.between', 'filter.status_id.between'],
    ['first', 'per_page'],
    ['offset', 'page'],
    ['reply.template.bodyByName.first', 'reply.template.body_by_name.first'],
    ['email', 'email'],
    ['constructor', 'constructor'],
  ])('%s is %s on the wire', (name, wire) => {
    expect(wirePath(name)).toBe(wire);
  });

  it('can be those of one route', () => {
    expect(restErrorOf([coded('VALIDATION_ERROR', { to: ['x'] })], { to: 'contact_id' }).details).toEqual({
      contact_id: ['x'],
    });
  });
});

it('two fields of GraphQL that are one in REST keep the messages of both', () => {
  const details = { 'header.image.link': ['Is too long.'], header: ['This template has no header.', 'Is too long.'] };
  const names = { header: 'header_image_url', 'header.image.link': 'header_image_url' };
  const error = new GraphQLError('Is too long.', { extensions: { code: 'VALIDATION_ERROR', details } });
  expect(restErrorOf([error], names)).toMatchObject({
    message: 'header_image_url: Is too long.',
    details: { header_image_url: ['Is too long.', 'This template has no header.'] },
  });
});

describe('errors of GraphQL', () => {
  it.each(Object.entries(ERROR_STATUS))('%s is answered with %d', (code, status) => {
    expect(restErrorOf([coded(code)], undefined)).toMatchObject({ code, status });
  });

  it('are reduced to the most relevant one', () => {
    const order: ErrorCode[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'VALIDATION_ERROR', 'INSUFFICIENT_SCOPE'];
    for (let count = order.length; count > 0; count -= 1) {
      const codes = order.slice(0, count);
      expect(
        restErrorOf(
          codes.map(code => coded(code)),
          undefined,
        ).code,
      ).toBe(codes.at(-1));
    }
  });

  it('are 422 for a variable that does not fit its type, never 500', () => {
    expect(restErrorOf([coded('BAD_USER_INPUT')], undefined)).toMatchObject({
      status: 422,
      code: 'VALIDATION_ERROR',
      details: { input: ['words'] },
    });
  });

  it('keep the message of an unknown code internal', () => {
    expect(restErrorOf([coded('ELEPHANT')], undefined)).toMatchObject({
      status: 500,
      message: 'Something went wrong on our side.',
    });
    expect(restErrorOf([], undefined)).toMatchObject({ status: 500 });
  });

  it('name our id of a refused message differently from the network’s', () => {
    const details = { provider: { code: 131_026 }, message_id: 'ours' };
    expect(restErrorOf([coded('MESSAGE_SEND_FAILED', details)], undefined).details).toEqual({
      provider: { code: 131_026 },
      chat_message_id: 'ours',
    });
  });

  it('write timestamps in the usual format', () => {
    const details = { windowExpiredAt: '2026-01-01T00:00:00.123Z' };
    expect(restErrorOf([coded('OUTSIDE_SERVICE_WINDOW', details)], undefined).details).toEqual({
      windowExpiredAt: '2026-01-01T00:00:00+00:00',
    });
  });

  it('name the first field in the message', () => {
    const error = new CodedError('VALIDATION_ERROR', 'Is required.', {
      details: { phone: ['Is required.'], email: ['Is taken.'] },
    });
    expect(restErrorOf([error], undefined).message).toBe('phone: Is required. (and 1 more)');
  });
});

describe('a thrown error', () => {
  it.each([
    [Object.assign(new Error('x'), { statusCode: 413 }), 413, 'PAYLOAD_TOO_LARGE'],
    [Object.assign(new Error('x'), { statusCode: 415 }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [Object.assign(new Error('x'), { statusCode: 400 }), 400, 'BAD_REQUEST'],
    [Object.assign(new Error('x'), { statusCode: 503 }), 503, 'SERVICE_UNAVAILABLE'],
    [new CodedError('CONFLICT', 'x'), 409, 'CONFLICT'],
    [new Error('secret'), 500, 'INTERNAL_ERROR'],
    ['secret', 500, 'INTERNAL_ERROR'],
  ])('%s is answered with %d', (error, status, code) => {
    const thrown = restErrorOfThrown(error, 'request-id', log);
    expect(thrown).toMatchObject({ status, code });
    expect(JSON.stringify(thrown)).not.toContain('secret');
  });
});

describe('timestamps', () => {
  it('have whole seconds and a numeric offset', () => {
    expect(time('2026-01-01T07:58:39.987Z')).toBe('2026-01-01T07:58:39+00:00');
    expect(wireTime('2026-01-01T07:58:39Z')).toBe('2026-01-01T07:58:39+00:00');
    expect(wireTime('2026-01-01T07:58:39.987+00:00')).toBe('2026-01-01T07:58:39+00:00');
    expect(time(null)).toBeNull();
    expect(wireTime('2026')).toBeUndefined();
  });
});
