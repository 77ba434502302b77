import { Center, Group, Paper, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../ui/dimmed.tsx'
import { LanguageMenu } from '../ui/language-menu.tsx'
import { Logo } from '../ui/logo.tsx'

/** The frame of sign-in, set-up and invitations. */
export function PublicFrame({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w="100%" maw={420} gap="lg">
        <Group justify="space-between">
          <Logo />
          <LanguageMenu />
        </Group>
        <Paper withBorder p="xl">
          {children}
        </Paper>
        <Dimmed size="xs" ta="center">
          {t('tagline')}
        </Dimmed>
      </Stack>
    </Center>
  )
}
