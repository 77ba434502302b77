import { Anchor, Text, UnstyledButton } from '@mantine/core'

/** Mantine's classes for plain elements: a page has many of these, and each component of Mantine takes time. */

const focusable = 'mantine-focus-auto'

export const plainButton = `${focusable} ${UnstyledButton.classes['root']}`

/** With `data-underline="hover"`. */
export const plainAnchor = `${focusable} ${Anchor.classes['root']} ${Text.classes['root']}`
