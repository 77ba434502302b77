import { Text, type TextProps } from '@mantine/core'
import type { ComponentPropsWithoutRef } from 'react'

/** A small text that steps back behind its surroundings. */
export function Dimmed(props: TextProps & Omit<ComponentPropsWithoutRef<'p'>, keyof TextProps>) {
  return <Text size="sm" c="dimmed" {...props} />
}
