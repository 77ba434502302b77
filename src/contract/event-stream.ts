import type { z } from 'zod'

/** For a route's `response` schema: server-sent events whose data lines are `Event`s. */
export function eventStream<Event extends z.ZodType>(event: Event) {
  return { description: 'Server-sent events.', content: { 'text/event-stream': { schema: event } } }
}

/** One JSON object, or server-sent events if the request sets streaming. */
export function jsonOrEvents<Whole extends z.ZodType, Event extends z.ZodType>(whole: Whole, event: Event) {
  return {
    description: 'One JSON object, or server-sent events if the request sets streaming.',
    content: { 'application/json': { schema: whole }, 'text/event-stream': { schema: event } },
  }
}
