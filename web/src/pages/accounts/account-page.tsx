import { Button, Group, SegmentedControl, Stack, Text, TextInput, useMantineColorScheme } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { PersonBody } from '@contract/people.ts'
import { patchJson, postJson } from '../../api/client.ts'
import { sessionQuery, useSession } from '../../app/session.ts'
import { changeLanguage, languages, type Language } from '../../i18n/translations.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { LeaveGuard } from '../../ui/leave-guard.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { useChange } from '../../ui/use-change.ts'
import { NewPassword } from './new-password.tsx'
import { CurrentPassword } from './current-password.tsx'
import { Problem, useProblemText } from './problem.tsx'
import { SecondFactorSection } from './second-factor-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { sessionsQuery } from './routes.tsx'

export function AccountPage() {
  const { t } = useTranslation('accounts')
  const { person } = useSession()
  return (
    <Page title={t('account.title')} description={person?.email ?? t('account.operatorToken')}>
      <Stack gap="xl" maw={720}>
        {person && <NameSection person={person} />}
        {person?.hasPassword && <PasswordSection />}
        {person?.hasPassword && <SecondFactorSection isOn={person.twoFactorEnabled} />}
        {person && !person.hasPassword && (
          <Section title={t('account.signIn')}>
            <Text size="sm">{t('account.singleSignOnText')}</Text>
          </Section>
        )}
        <AppearanceSection />
        <SessionsSection />
      </Stack>
    </Page>
  )
}

function NameSection({ person }: { person: PersonBody }) {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const form = useSharedDraft({
    view: person,
    draftOf: ({ name }: PersonBody) => ({ name }),
    load: async () => (await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }))?.person ?? person,
    send: ({ name }, base) => patchJson('/api/me', { name }, ifMatch(base)),
    labelOf: () => t('name'),
  })
  const rename = useChange(() => form.save(), { stale: sessionQuery.queryKey, done: () => t('saved') })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate()
  }
  return (
    <Section title={t('account.profile')}>
      <form onSubmit={submit}>
        <Group align="flex-end" gap="sm">
          <TextInput
            name="name"
            label={t('name')}
            value={form.draft.name}
            onChange={({ currentTarget }) => form.set({ name: currentTarget.value })}
            autoComplete="name"
            maxLength={200}
            required
            withAsterisk={false}
            flex={1}
            maw={360}
          />
          <Button type="submit" variant="default" loading={rename.isPending}>
            {t('save')}
          </Button>
        </Group>
      </form>
      <LeaveGuard isDirty={form.isDirty && !rename.isPending} />
      {form.dialog(() => rename.mutate())}
    </Section>
  )
}

function PasswordSection() {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const form = useRef<HTMLFormElement>(null)
  const [problem, setProblem] = useState<string>()
  const change = useMutation({
    mutationFn: (given: object) => postJson('/api/auth/change-password', given),
    onSuccess: async () => {
      setProblem(undefined)
      form.current?.reset()
      notifySuccess(t('account.passwordChanged'))
      await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
    onError: (error) => setProblem(problemText(error)),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.mutate(Object.fromEntries(new FormData(event.currentTarget)))
  }
  return (
    <Section title={t('password')} description={t('account.passwordText')}>
      <form ref={form} onSubmit={submit}>
        <Stack gap="sm" maw={360}>
          <Problem text={problem} />
          <CurrentPassword name="currentPassword" />
          <NewPassword name="newPassword" />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              {t('account.changePassword')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

/** Kept in this browser. */
function AppearanceSection() {
  const { t, i18n } = useTranslation('accounts')
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Section title={t('account.appearance')} description={t('account.appearanceText')}>
      <Group align="flex-end" gap="lg">
        <Select
          label={t('account.language')}
          data={languages.map(({ code, name }) => ({ value: code, label: name }))}
          value={i18n.language}
          allowDeselect={false}
          onChange={(code) => void changeLanguage(code as Language)}
          w={200}
        />
        <SegmentedControl
          aria-label={t('account.colours')}
          data={(['auto', 'light', 'dark'] as const).map((value) => ({ value, label: t(`account.scheme.${value}`) }))}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as 'auto' | 'light' | 'dark')}
        />
      </Group>
    </Section>
  )
}
