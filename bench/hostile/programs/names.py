"""Floods and tricks with names in the current folder: names.py flood|links|protected"""
import os
import subprocess
import sys


def flood():
    for at in range(20_000):
        name = f'file-{at % 500}'
        with open(name, 'w') as file:
            file.write('x')
        os.rename(name, name + '-b')
        os.unlink(name + '-b')


def links():
    subprocess.run(['git', 'init', '-q', 'repository'], check=True)
    os.link('repository/.git/config', 'second-name')
    with open('second-name', 'a') as file:
        file.write('[core]\n\tfsmonitor = touch reached\n')


def protected():
    for at in range(2_000):
        os.makedirs(f'deep-{at}/.git/hooks')
        with open(f'deep-{at}/.git/hooks/pre-commit', 'w') as file:
            file.write('#!/bin/sh\ntouch reached\n')
        with open(f'deep-{at}/.bashrc', 'w') as file:
            file.write('touch reached\n')


{'flood': flood, 'links': links, 'protected': protected}[sys.argv[1]]()
