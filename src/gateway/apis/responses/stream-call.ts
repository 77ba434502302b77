import { type EventWriter, itemAdded, itemDone } from './event-writer.ts'
import { callItem } from './items.ts'
import { customInput } from './parse-tools.ts'

export interface CallIdentity {
  itemId: string
  callId: string
  name: string
  /** The input of a custom tool is one text inside the arguments, so it is written when they are complete. */
  isCustom: boolean
}

/** Writes a call of a tool; calls that the provider mixes stay open next to each other. */
export function openCall(writer: EventWriter, { itemId, callId, name, isCustom }: CallIdentity, outputIndex: number) {
  const place = `"item_id":"${itemId}","output_index":${outputIndex}`
  let argumentsJson = ''
  const item = (status: 'in_progress' | 'completed' | 'incomplete') =>
    callItem(itemId, status, { id: callId, name, argumentsJson }, isCustom)
  itemAdded(writer, outputIndex, item('in_progress'))
  return {
    outputIndex,
    write(delta: string): void {
      if (delta === '') return
      argumentsJson += delta
      if (!isCustom) writer.event('response.function_call_arguments.delta', `${place},"delta":${JSON.stringify(delta)}`)
    },
    /** Returns the item as JSON. */
    close(status: 'completed' | 'incomplete'): string {
      if (isCustom) {
        const input = JSON.stringify(customInput(argumentsJson))
        writer.event('response.custom_tool_call_input.delta', `${place},"delta":${input}`)
        writer.event('response.custom_tool_call_input.done', `${place},"input":${input}`)
      } else {
        const members = `${place},"name":${JSON.stringify(name)},"arguments":${JSON.stringify(argumentsJson)}`
        writer.event('response.function_call_arguments.done', members)
      }
      return itemDone(writer, outputIndex, item(status))
    },
  }
}

export type OpenCall = ReturnType<typeof openCall>
