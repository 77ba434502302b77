import { Alert, Button, FileButton, Group, Loader, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { erasuresPath } from './routes.tsx'

interface Verified {
  genuine: boolean
  logEntries: { id: string; exists: boolean }[]
}

/** Certificates have a few kilobytes. */
const maximumBytes = 1024 * 1024

/** Whether a downloaded certificate is what this installation signed. */
export function CertificateCheck({ organisationId }: { organisationId: string }) {
  const { t } = useTranslation('data-protection')
  const [file, setFile] = useState<File | null>(null)
  const check = useMutation({ mutationFn: (chosen: File) => verify(organisationId, chosen) })
  const choose = (chosen: File | null) => {
    if (!chosen) return
    setFile(chosen)
    check.mutate(chosen)
  }
  return (
    <Stack gap="sm" maw={640}>
      <Group gap="sm">
        {/* The browser reports the same file again only to a new field. */}
        <FileButton key={check.submittedAt} accept="application/json,.json" onChange={choose}>
          {(button) => (
            <Button {...button} variant="default" disabled={check.isPending}>
              {t('check.choose')}
            </Button>
          )}
        </FileButton>
        {file && <Text size="sm">{file.name}</Text>}
      </Group>
      {check.isPending && (
        <Group gap="sm" role="status">
          <Loader size="sm" />
          <Text size="sm">{t('check.checking')}</Text>
        </Group>
      )}
      {check.error && (
        <Alert color="red" role="alert">
          {check.error.message}
        </Alert>
      )}
      {check.data === null && (
        <Alert color="red" role="alert">
          {t('check.unreadable')}
        </Alert>
      )}
      {check.data && <Result {...check.data} />}
    </Stack>
  )
}

function Result({ genuine, logEntries }: Verified) {
  const { t } = useTranslation('data-protection')
  if (!genuine)
    return (
      <Alert color="red" role="status" title={t('check.false')}>
        {t('check.falseText')}
      </Alert>
    )
  const existing = logEntries.filter(({ exists }) => exists).length
  return (
    <Alert color="portico" variant="light" role="status" title={t('check.genuine')}>
      {t('check.entries', { count: logEntries.length, existing })}
    </Alert>
  )
}

/** null: the file has no certificate. */
async function verify(organisationId: string, file: File): Promise<Verified | null> {
  if (file.size > maximumBytes) return null
  const certificate = readObject(await file.text())
  return certificate && postJson<Verified>(`${erasuresPath(organisationId)}/verify`, { certificate })
}

function readObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
