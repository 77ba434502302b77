import type { SingleSignOnBody, SingleSignOnTest, StartedSingleSignOnTest } from '@contract/single-sign-on.ts'
import { Alert, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import i18next from 'i18next'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import type texts from './en.json'
import { singleSignOnPath, singleSignOnQuery } from './routes.tsx'

/** Signs in at the provider with the stored settings, and shows what came back. Nobody is signed in by it. */
export function TestSection({ view, isDirty }: { view: SingleSignOnBody; isDirty: boolean }) {
  const { t } = useTranslation('single-sign-on')
  const queryClient = useQueryClient()
  const start = useMutation({
    mutationFn: () => postJson<StartedSingleSignOnTest>(`${singleSignOnPath}/test`),
    onSuccess({ url, ...stored }) {
      queryClient.setQueryData(singleSignOnQuery.queryKey, stored)
      if (url !== null) globalThis.location.assign(url)
    },
    onError: notifyError,
  })
  return (
    <Section title={t('test.title')} description={t('test.text')}>
      <Group gap="sm">
        <Button
          variant={view.canSwitchOn ? 'default' : 'filled'}
          disabled={isDirty}
          loading={start.isPending || Boolean(start.data?.url)}
          onClick={() => start.mutate()}
        >
          {t('test.start')}
        </Button>
        {isDirty && <Dimmed>{t('test.saveFirst')}</Dimmed>}
      </Group>
      {view.test && <TestResult test={view.test} />}
    </Section>
  )
}

type Code = keyof typeof texts.code

const isKnown = (code: string): code is Code => i18next.exists(`code.${code}`, { ns: 'single-sign-on' })

const colors = { waiting: 'gray', passed: 'teal', failed: 'red' } as const

function TestResult({ test }: { test: SingleSignOnTest }) {
  const { t } = useTranslation('single-sign-on')
  const { state, code, detail, rule, person, startedAt } = test
  const reason = code === null ? undefined : t(`code.${isKnown(code) ? code : 'other'}`)
  return (
    <Alert color={colors[state]} variant="light" role="status" title={t(`test.${state}`)}>
      <Stack gap="xs">
        {reason && <Text size="sm">{reason}</Text>}
        {rule && <Text size="sm">{t(`rule.${rule}`)}</Text>}
        {person && <StatedPerson person={person} />}
        {detail && (
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {code}: {detail}
          </Code>
        )}
        <Dimmed size="xs">
          {t('test.at')} <Time value={startedAt} />
        </Dimmed>
      </Stack>
    </Alert>
  )
}

function StatedPerson({ person }: { person: NonNullable<SingleSignOnTest['person']> }) {
  const { t } = useTranslation('single-sign-on')
  const format = useFormat()
  const rows = [
    [t('person.issuer'), person.issuer],
    [t('person.email'), person.email || t('person.none')],
    [t('person.verified'), t(person.emailVerified ? 'person.yes' : 'person.no')],
    [t('person.name'), person.name || t('person.none')],
    [t('person.groups'), format.number(person.groups)],
  ] as const
  return (
    <Table aria-label={t('person.title')} verticalSpacing={4} maw={560}>
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th fw={500} w={{ base: 120, sm: 180 }}>
              {label}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
