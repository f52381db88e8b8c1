/*
 * Makes system calls under the numbers of another architecture, which a filter
 * that only compares numbers takes for harmless ones. Usage: wrong-architecture SCRATCH
 */
#include "route.h"

static const char *scratch;

/* Ends with 42: one 32-bit system call, exit. */
#if defined __aarch64__
static const uint32_t code[] = { 0xe3a07001 /* mov r7, #1 */, 0xe3a0002a /* mov r0, #42 */, 0xef000000 /* svc 0 */ };
enum { MACHINE = 40, ELF_FLAGS = 0x05000200 };
#elif defined __x86_64__
static const uint8_t code[] = { 0xb8, 1, 0, 0, 0 /* mov eax, 1 */, 0xbb, 42, 0, 0, 0 /* mov ebx, 42 */, 0xcd, 0x80 /* int 0x80 */ };
enum { MACHINE = 3, ELF_FLAGS = 0 };
#endif

/* A whole 32-bit program: file header, one segment, the code. */
static int small_program(const char *path)
{
	struct {
		uint8_t identification[16];
		uint16_t type, machine;
		uint32_t version, entry, segments, sections, flags;
		uint16_t header_size, segment_size, segment_count, section_size, section_count, names;
		uint32_t kind, offset, address, physical, file_size, memory_size, rights, alignment;
		uint8_t code[sizeof code];
	} __attribute__((packed)) program = {
		.identification = { 0x7f, 'E', 'L', 'F', 1, 1, 1 }, .type = 2, .machine = MACHINE, .version = 1, .entry = 0x10000 + 84,
		.segments = 52, .flags = ELF_FLAGS, .header_size = 52, .segment_size = 32, .segment_count = 1, .kind = 1,
		.address = 0x10000, .physical = 0x10000, .file_size = sizeof program, .memory_size = sizeof program, .rights = 5,
		.alignment = 0x1000,
	};
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0755);
	TRY(fd);
	memcpy(program.code, code, sizeof code);
	TRY(write(fd, &program, sizeof program));
	close(fd);
	return 0;
}

static int by_32_bit_program(void)
{
	char *path = path_of("%s/small-program", scratch);
	int error = small_program(path), status = 0;
	if (error) unable(path);
	pid_t child = fork();
	TRY(child);
	if (child == 0) {
		char *const argv[] = { "small", NULL };
		execve(path, argv, NULL);
		_exit(100 + (errno == ENOEXEC));
	}
	waitpid(child, &status, 0);
	unlink(path);
	if (WIFSIGNALED(status)) return note("killed by signal %d", WTERMSIG(status)), NOTHING;
	if (WEXITSTATUS(status) == 42) return 0;
	return WEXITSTATUS(status) == 101 ? ENOEXEC : EACCES;
}

#if defined __x86_64__
static int by_int_80(void)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid of i386 */) : "memory");
	return result == getpid() ? 0 : result < 0 ? (int)-result : NOTHING;
}

static int by_x32(void)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000 | 39 /* getpid */) : "rcx", "r11", "memory");
	return result == getpid() ? 0 : result < 0 ? (int)-result : NOTHING;
}

/* ptrace of x32 has a number of its own; a list of plain numbers does not contain it. */
static int by_x32_special(void)
{
	long result;
	register long zero __asm__("r10") = 0;
	__asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000 | 521), "D"(0), "S"(0), "d"(0), "r"(zero) : "rcx", "r11", "memory");
	return result >= 0 ? 0 : (int)-result;
}
#endif

int main(int count, char **words)
{
	if (count != 2) return 64;
	scratch = words[1];
	route("32-bit-program", by_32_bit_program);
#if defined __x86_64__
	route("int-80", by_int_80);
	route("x32", by_x32);
	route("x32-special", by_x32_special);
#endif
	return 0;
}
