import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

/** Links to pages of the console: the router checks their address, parameters and search. */

type Others<Props> = Omit<ComponentPropsWithRef<'a'>, keyof Props>

export const AnchorLink = createLink((props: AnchorProps & Others<AnchorProps>) => <Anchor {...props} />)

export const ButtonLink = createLink((props: ButtonProps & Others<ButtonProps>) => <Button component="a" {...props} />)
